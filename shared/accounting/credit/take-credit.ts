// Reserves credit of a workspace, with one write if the first shard has enough.
import { createCache } from '../../foundation/cache/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { coalesceRuns, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import type { Counters, Hold } from '../holds/index.ts';
import {
  type CreditAccount,
  creditCounter,
  isInDebt,
  readBalance,
  type ShardBalance,
  shardCount,
} from './credit-account.ts';
import { gather, readShards, type Shard } from './credit-shards.ts';

/** Number of shards that are tried in turn before all are read. */
const probesMax = 3;
/** Maximum number of times that all shards are read; a further time is needed if other calls were faster. */
const looksMax = 5;
/**
 * Shard in which credit is gathered in a shortage, so that two shortages at once do not move the same credit back and
 * forth.
 */
const gatheringShard = 0;
/** Maximum number of accounts whose shortages are shared by waiting calls. */
const accountsMax = 1_000;

export interface CreditHold extends Hold {
  readonly account: CreditAccount;
  readonly shard: number;
  /** A shard that had too little, to which the settlement transfers some of this shard's headroom. */
  readonly shortShard?: number;
}

export type CreditTake =
  | { readonly kind: 'taken'; readonly hold: CreditHold }
  /** `short` is the amount that is too low. `available` is the amount of all shards together, which may be negative. */
  | {
      readonly kind: 'insufficient';
      readonly short: 'credit' | 'spend_limit';
      readonly needed: PicoUsd;
      readonly available: PicoUsd;
    }
  /** No slot is free; the account has no other pool. */
  | { readonly kind: 'no_slot' };

type TakeOutcome = Awaited<ReturnType<Counters['take']>>;

interface CreditTakeOptions {
  readonly store: Store;
  readonly counters: Counters;
  readonly randomness: Randomness;
}

/** Creates the reservation. It throws StoreUnavailable; amounts that may have been reserved before expire. */
export function createCreditTake({ store, counters, randomness }: CreditTakeOptions) {
  /** Shortages by account. Credit is read and gathered once for all calls that are short at the time. */
  const shortages = createCache<(amount: PicoUsd) => Promise<ShardBalance>>({ sizeMax: accountsMax });

  const takeIn = (account: CreditAccount, shard: number, hold: Hold) =>
    counters.take(creditCounter(account, shard), hold);

  async function gatherFor(account: CreditAccount, amounts: readonly PicoUsd[]): Promise<ShardBalance> {
    const context = { store, counters, account };
    const shards = await readShards(context);
    const total = totalOf(account, shards);
    const available = spendableOf(total);
    const fitting = amounts.reduce((sum, amount) => (sum + amount <= available ? sum + amount : sum), 0n);
    if (fitting > 0n) await gather(context, shards, gatheringShard, fitting);
    return total;
  }

  function shortageOf(account: CreditAccount): (amount: PicoUsd) => Promise<ShardBalance> {
    const name = `${account.workspace} ${account.shards} ${account.spendLimit}`;
    const shortage = shortages.get(name) ?? coalesceRuns((amounts) => gatherFor(account, amounts));
    shortages.set(name, shortage);
    return shortage;
  }

  async function takeGathered(account: CreditAccount, hold: Hold): Promise<CreditTake> {
    for (let look = 0; look < looksMax; look += 1) {
      const total = await shortageOf(account)(hold.amount);
      if (spendableOf(total) < hold.amount) return insufficient(total, hold.amount);
      const result = await takeIn(account, gatheringShard, hold);
      if (result.kind === 'taken') return { kind: 'taken', hold: { ...hold, account, shard: gatheringShard } };
    }
    throw new StoreUnavailable(new Error('other calls took the credit in every try'));
  }

  /** Tries some shards, beginning with the one whose result is given. */
  async function takeInOthers(
    account: CreditAccount,
    hold: Hold,
    first: number,
    firstResult: TakeOutcome,
  ): Promise<CreditTake> {
    const shards = shardCount(account);
    let result = firstResult;
    for (let probe = 0; probe < Math.min(probesMax, shards); probe += 1) {
      const shard = (first + probe) % shards;
      if (probe > 0) result = await takeIn(account, shard, hold);
      if (result.kind === 'taken') return { kind: 'taken', hold: { ...hold, account, shard, shortShard: first } };
      if (result.short === 'slots') return { kind: 'no_slot' };
      const balance = readBalance(account, shard, result.item);
      if (shards === 1) return insufficient(balance, hold.amount, result.available);
      // The debt of one shard reduces the credit of the other shards.
      if (isInDebt(balance)) break;
    }
    return takeGathered(account, hold);
  }

  /** Throws a RangeError for an impossible account. */
  function drawShard(account: CreditAccount, hold: Hold): number {
    const shards = shardCount(account);
    if (hold.slot === true && shards > 1) throw new RangeError('slots stand in one item');
    return Math.floor(randomness.fraction() * shards);
  }

  return (account: CreditAccount, hold: Hold): Promise<CreditTake> => {
    let shard: number;
    try {
      shard = drawShard(account, hold);
    } catch (error) {
      return Promise.reject(error);
    }
    return takeIn(account, shard, hold).then((result) =>
      result.kind === 'taken'
        ? { kind: 'taken', hold: { ...hold, account, shard } }
        : takeInOthers(account, hold, shard, result),
    );
  };
}

function totalOf(account: CreditAccount, shards: readonly Shard[]): ShardBalance {
  const balances = shards.map(({ index, item }) => readBalance(account, index, item));
  const credit = balances.reduce((sum, balance) => sum + balance.credit, 0n);
  const headroom = balances.reduce((sum, balance) => sum + (balance.headroom ?? 0n), 0n);
  return { credit, headroom: account.spendLimit === null ? null : headroom };
}

const spendableOf = ({ credit, headroom }: ShardBalance): PicoUsd =>
  headroom !== null && headroom < credit ? headroom : credit;

function insufficient(
  { credit, headroom }: ShardBalance,
  needed: PicoUsd,
  available: PicoUsd = spendableOf({ credit, headroom }),
): CreditTake {
  const short = headroom !== null && headroom < credit ? 'spend_limit' : 'credit';
  return { kind: 'insufficient', short, needed, available };
}
