// Takes a hold on the credit of a workspace. One write where the first shard covers it.

import type { Randomness } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { contended, type Hold, healParts, takeHold } from '../holds/index.ts';
import { type CreditAccount, creditCounter, readRoom, shardCount } from './credit-account.ts';
import { gather, readShards, type Shard } from './shards.ts';
import type { TransferContext } from './transfer.ts';

/** Shards that are tried one after the other before all are looked at. */
const probesMax = 3;
/** Looks at all shards: each after the first follows on takers who came first, or on dead holds given back. */
const looksMax = 5;
/** Shortages gather in one place: two at once must not draw the same credit back and forth. */
const gatheringShard = 0;

export interface CreditHold extends Hold {
  readonly account: CreditAccount;
  readonly shard: number;
  /** A shard that could not cover it. Settling gives it some of what this one has left. */
  readonly shortShard?: number;
}

export type CreditTake =
  | { readonly kind: 'taken'; readonly hold: CreditHold }
  /** `short`: which of the two does not cover it. `available` is of all shards. May be negative. */
  | {
      readonly kind: 'insufficient';
      readonly short: 'credit' | 'spend_limit';
      readonly needed: PicoUsd;
      readonly available: PicoUsd;
    };

export interface CreditTakeContext extends TransferContext {
  readonly randomness: Randomness;
  readonly nowMs: number;
}

/** Throws StoreUnavailable. What it may have taken before that ends with its lease. */
export async function takeCredit(context: CreditTakeContext, hold: Hold): Promise<CreditTake> {
  const { account, randomness } = context;
  const shards = shardCount(account);
  const first = Math.floor(randomness.fraction() * shards);
  for (let probe = 0; probe < Math.min(probesMax, shards); probe += 1) {
    const shard = (first + probe) % shards;
    const result = await takeIn(context, shard, hold);
    if (result.kind === 'taken') {
      return { kind: 'taken', hold: { ...hold, account, shard, ...(probe === 0 ? {} : { shortShard: first }) } };
    }
    if (shards === 1) return insufficient(context, [{ index: 0, item: result.item }], hold, result.available);
  }
  return takeGathered(context, hold);
}

const takeIn = ({ store, account, nowMs, options }: CreditTakeContext, shard: number, hold: Hold) =>
  takeHold({
    store,
    counter: creditCounter(account, shard),
    hold,
    nowMs,
    ...(options === undefined ? {} : { options }),
  });

async function takeGathered(context: CreditTakeContext, hold: Hold): Promise<CreditTake> {
  const { account, nowMs } = context;
  for (let look = 0; look < looksMax; look += 1) {
    const shards = await readShards(context, nowMs);
    const { credit, headroom } = totalRoom(account, shards);
    const available = headroom !== null && headroom < credit ? headroom : credit;
    if (available < hold.amount) {
      // One look gives back a bounded number of dead holds; there are more.
      if (shards.some(({ index, item }) => healParts(creditCounter(account, index), item, nowMs))) continue;
      return insufficient(context, shards, hold, available);
    }
    await gather(context, shards, gatheringShard, hold.amount);
    const result = await takeIn(context, gatheringShard, hold);
    if (result.kind === 'taken') return { kind: 'taken', hold: { ...hold, account, shard: gatheringShard } };
  }
  throw contended();
}

/** Debts of single shards count against the others. */
function totalRoom(account: CreditAccount, shards: readonly Shard[]) {
  const rooms = shards.map(({ index, item }) => readRoom(account, index, item));
  const credit = rooms.reduce((sum, room) => sum + room.credit, 0n);
  const headroom = account.spendLimit === null ? null : rooms.reduce((sum, room) => sum + (room.headroom ?? 0n), 0n);
  return { credit, headroom };
}

function insufficient(
  { account }: CreditTakeContext,
  shards: readonly Shard[],
  { amount }: Hold,
  available: PicoUsd,
): CreditTake {
  const { credit, headroom } = totalRoom(account, shards);
  const isLimitShort = headroom !== null && headroom < credit;
  return { kind: 'insufficient', short: isLimitShort ? 'spend_limit' : 'credit', needed: amount, available };
}
