// Levels the shards of an account, so that a call at one shard can use the credit of another shard.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import type { Counters } from '../holds/index.ts';
import {
  creditCounter,
  creditKey,
  readBalance,
  readSpendable,
  type ShardBalance,
  shardCount,
} from './credit-account.ts';
import { finishTransfer, move, readTransfer, type TransferContext } from './transfer.ts';

/** A shard gives half of its headroom to a short shard only if that half covers this number of reservations. */
const levelledFromHolds = 8n;

export interface Shard {
  readonly index: number;
  readonly item: Item;
}

export interface ShardContext extends TransferContext {
  readonly counters: Counters;
}

/** Returns every shard's current state, after pending transfers have arrived and expired reservations were released. */
export async function readShards(context: ShardContext): Promise<readonly Shard[]> {
  const { account, counters } = context;
  const shards = await forEachShard(context, async (index) => ({
    index,
    item: await counters.releaseExpired(creditCounter(account, index)),
  }));
  const transfers = shards.flatMap(({ index, item }) => readTransfer(index, item) ?? []);
  if (transfers.length === 0) return shards;
  await Promise.all(transfers.map((transfer) => finishTransfer(context, transfer)));
  return readAll(context);
}

export const readAll = (context: TransferContext): Promise<readonly Shard[]> =>
  forEachShard(context, async (index) => ({
    index,
    item: (await context.store.get('ledger', creditKey(context.account.workspace, index), context.options)) ?? {},
  }));

const forEachShard = <Value>({ account }: TransferContext, work: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: shardCount(account) }, (_none, index) => work(index)));

/** Brings `target` as near to `amount` of credit and headroom as the other shards can, all of them at once. */
export async function gather(context: TransferContext, shards: readonly Shard[], target: number, amount: PicoUsd) {
  const balances = shards.map(({ index, item }) => readBalance(context.account, index, item));
  let { credit, headroom } = lackOf(balances[target], amount);
  const moves: Promise<void>[] = [];
  for (const { index, item } of shards) {
    const balance = balances[index];
    if (index === target || balance === undefined) continue;
    const share = { credit: lesser(credit, balance.credit), headroom: lesser(headroom, balance.headroom ?? 0n) };
    if (share.credit === 0n && share.headroom === 0n) continue;
    credit -= share.credit;
    headroom -= share.headroom;
    moves.push(move(context, index, target, share, item));
  }
  await Promise.all(moves);
}

const lackOf = (balance: ShardBalance | undefined, amount: PicoUsd) => ({
  credit: greaterOfZero(amount - (balance?.credit ?? 0n)),
  headroom: balance?.headroom == null ? 0n : greaterOfZero(amount - balance.headroom),
});

/**
 * Transfers half of the amount of `from` to a shard that was found empty. `amount` is the size of a call at that shard.
 */
export async function level(context: TransferContext, from: number, to: number, item: Item, amount: PicoUsd) {
  if (readSpendable(context.account, from, item) < amount * levelledFromHolds) return;
  const { credit, headroom } = readBalance(context.account, from, item);
  await move(context, from, to, { credit: credit / 2n, headroom: (headroom ?? 0n) / 2n }, item);
}

const greaterOfZero = (amount: PicoUsd): PicoUsd => (amount > 0n ? amount : 0n);
const lesser = (wanted: PicoUsd, there: PicoUsd): PicoUsd => greaterOfZero(wanted < there ? wanted : there);
