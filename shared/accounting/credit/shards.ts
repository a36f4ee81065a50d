// Evens out the shards of an account, so that credit which stands in one can be used by a call that met another.

import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { healParts, toUpdate } from '../holds/index.ts';
import { creditCounter, creditKey, type Room, readRoom, readSpendable, shardCount } from './credit-account.ts';
import { finishTransfer, move, readTransfer, type TransferContext } from './transfer.ts';

/** A short shard is given half of what a call's own shard has left, if that is enough for many such calls. */
const levelledFromHolds = 8n;

export interface Shard {
  readonly index: number;
  readonly item: Item;
}

/** Every shard as it stands. What is on its way arrives first, and expired holds are given back. */
export async function readShards(context: TransferContext, nowMs: number): Promise<readonly Shard[]> {
  const shards = await readAll(context);
  const repairs = shards.flatMap(({ index, item }) => {
    const transfer = readTransfer(index, item);
    const counter = creditCounter(context.account, index);
    const heal = healParts(counter, item, nowMs);
    return [
      ...(transfer === undefined ? [] : [finishTransfer(context, transfer)]),
      ...(heal === undefined ? [] : [context.store.update(toUpdate('ledger', counter.key, [heal]), context.options)]),
    ];
  });
  if (repairs.length === 0) return shards;
  await Promise.all(repairs);
  return readAll(context);
}

export const readAll = async ({ store, account, options }: TransferContext): Promise<readonly Shard[]> =>
  Promise.all(
    Array.from({ length: shardCount(account) }, async (_none, index) => ({
      index,
      item: (await store.get('ledger', creditKey(account.workspace, index), options)) ?? {},
    })),
  );

/** Brings `target` as near to `amount` of credit and headroom as the other shards can, all of them at once. */
export async function gather(context: TransferContext, shards: readonly Shard[], target: number, amount: PicoUsd) {
  const rooms = shards.map(({ index, item }) => readRoom(context.account, index, item));
  let { credit, headroom } = lackOf(rooms[target], amount);
  const moves: Promise<void>[] = [];
  for (const { index, item } of shards) {
    const room = rooms[index];
    if (index === target || room === undefined) continue;
    const given = { credit: lesser(credit, room.credit), headroom: lesser(headroom, room.headroom ?? 0n) };
    if (given.credit === 0n && given.headroom === 0n) continue;
    credit -= given.credit;
    headroom -= given.headroom;
    moves.push(move(context, index, target, given, item));
  }
  await Promise.all(moves);
}

const lackOf = (room: Room | undefined, amount: PicoUsd) => ({
  credit: greaterOfZero(amount - (room?.credit ?? 0n)),
  headroom: room?.headroom == null ? 0n : greaterOfZero(amount - room.headroom),
});

/** Gives half of what `from` has to a shard that was met empty. `amount`: the size of the calls that run there. */
export async function level(context: TransferContext, from: number, to: number, item: Item, amount: PicoUsd) {
  if (readSpendable(context.account, from, item) < amount * levelledFromHolds) return;
  const { credit, headroom } = readRoom(context.account, from, item);
  await move(context, from, to, { credit: credit / 2n, headroom: (headroom ?? 0n) / 2n }, item);
}

const greaterOfZero = (amount: PicoUsd): PicoUsd => (amount > 0n ? amount : 0n);
const lesser = (wanted: PicoUsd, there: PicoUsd): PicoUsd => greaterOfZero(wanted < there ? wanted : there);
