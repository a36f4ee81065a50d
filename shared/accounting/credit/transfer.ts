// Moves credit, and headroom under the spend limit, from one item to another in three writes that can neither lose nor
// create money. The first write takes the amount out of the source and notes it there as the only pending transfer,
// with the next number of the source. The second adds the amount to the target, unless the target has seen the number.
// The third deletes the note. Any process that finds a pending transfer may finish it, at any time and repeatedly:
// numbers only rise, so a late writer with an old number is refused. If a process dies in between, the money is in a
// pending transfer and never lost.
import type { PicoUsd } from '../../foundation/money/index.ts';
import {
  absent,
  and,
  atLeast,
  type CallOptions,
  type Changes,
  type Condition,
  equals,
  holds,
  type Item,
  less,
  or,
  type Store,
} from '../../storage/store/index.ts';
import { amountAtLeast, readAmount } from '../holds/index.ts';
import { type CreditAccount, creditAttributes, creditKey, ownLimit } from './credit-account.ts';

/**
 * Maximum number of tries after other writes of the source. Stopping is harmless, because the caller reads all shards
 * again.
 */
const triesMax = 3;

interface Amounts {
  readonly credit: PicoUsd;
  readonly headroom: PicoUsd;
}

export interface Transfer extends Amounts {
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

export interface TransferContext {
  readonly store: Store;
  readonly account: CreditAccount;
  readonly options?: CallOptions | undefined;
}

/** Returns the pending transfer of a shard. */
export function readTransfer(from: number, item: Item): Transfer | undefined {
  const entry = item.transfer_out as Record<string, unknown> | undefined;
  if (entry === undefined) return undefined;
  return {
    number: Number(entry.number),
    from,
    to: Number(entry.to_shard),
    credit: readAmount(entry.credit),
    headroom: readAmount(entry.headroom),
  };
}

/**
 * Moves amounts if `from` still has them; `item` is its last seen state. A pending transfer there is finished first.
 */
export async function move(context: TransferContext, from: number, to: number, amounts: Amounts, item: Item) {
  let seen = item;
  for (let tried = 0; tried < triesMax; tried += 1) {
    const underWay = readTransfer(from, seen);
    if (underWay !== undefined) {
      seen = await finishTransfer(context, underWay);
      // The pending transfer may be this transfer, made in a first try whose answer was lost.
      if (underWay.to === to) return;
      continue;
    }
    const transfer: Transfer = { ...amounts, number: Number(seen.transfer_number ?? 0) + 1, from, to };
    const taking = takeOut(context.account, transfer);
    if (!holds(taking.condition, seen)) return;
    const result = await write(context, from, taking);
    if (result.kind === 'written') {
      await finishTransfer(context, transfer);
      return;
    }
    seen = result.item ?? {};
  }
}

/** Adds the amount to the target and deletes the note in the source. Returns the source's item afterwards. */
export async function finishTransfer(context: TransferContext, transfer: Transfer): Promise<Item> {
  await write(context, transfer.to, putIn(transfer));
  const { item = {} } = await write(context, transfer.from, deleteNote(transfer));
  return item;
}

interface TransferWrite {
  readonly changes: Changes;
  readonly condition: Condition;
}

/** Returns the write that takes the amount out of its source. A shard in debt may still give headroom. */
const takeOut = (account: CreditAccount, { number, from, to, credit, headroom }: Transfer): TransferWrite => ({
  changes: {
    ...moved(-credit, -headroom),
    set: { transfer_number: number, transfer_out: { number, to_shard: to, credit, headroom } },
  },
  condition: and(
    absent('transfer_out'),
    number === 1 ? absent('transfer_number') : equals('transfer_number', number - 1),
    ...(credit > 0n ? [atLeast(creditAttributes.balance, credit)] : []),
    ...(headroom > 0n
      ? [amountAtLeast(creditAttributes.limitBalance, headroom - (ownLimit(account, from) ?? 0n))]
      : []),
  ),
});

function putIn({ number, from, credit, headroom }: Transfer): TransferWrite {
  const receivedName = `received#${from}`;
  return {
    changes: { ...moved(credit, headroom), set: { [receivedName]: number } },
    condition: or(absent(receivedName), less(receivedName, number)),
  };
}

const deleteNote = ({ number }: Transfer): TransferWrite => ({
  changes: { remove: ['transfer_out'] },
  condition: equals(['transfer_out', 'number'], number),
});

/** Returns the change. A shard that gets no headroom has no attribute for it. */
const moved = (credit: PicoUsd, headroom: PicoUsd): Pick<Changes, 'add'> => ({
  add: {
    ...(credit === 0n ? {} : { [creditAttributes.balance]: credit }),
    ...(headroom === 0n ? {} : { [creditAttributes.limitBalance]: headroom }),
  },
});

const write = ({ store, account, options }: TransferContext, shard: number, { changes, condition }: TransferWrite) =>
  store.update(
    { table: 'ledger', key: creditKey(account.workspace, shard), changes, condition, repeatable: true },
    options,
  );
