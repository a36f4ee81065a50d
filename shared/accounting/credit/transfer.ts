// Moves credit, and room under the spend limit, from one shard to another in two writes that can neither lose nor
// create money: the first takes it out of the source and writes it down there as the one transfer under way, with the
// next number of the source; the second adds it to the target unless that has seen the number; the third crosses it
// out. Whoever finds a transfer under way may finish it, at any time and as often as it likes: numbers only rise, so a
// laggard with an old one is refused for ever. A process that dies in between leaves money on its way, never nowhere.

import type { PicoUsd } from '../../foundation/money/index.ts';
import type { CallOptions, Item, Store } from '../../storage/store/index.ts';
import { readAmount, toUpdate, type WriteParts } from '../holds/index.ts';
import {
  type CreditAccount,
  creditAttributes,
  creditKey,
  type Room,
  readRoom,
  shareOfLimit,
} from './credit-account.ts';

/** Tries after others wrote the source first. Giving up is harmless: the caller looks at all shards again. */
const triesMax = 3;

export interface Amounts {
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

/** The transfer that a shard has under way. */
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

/** Moves amounts if `from` still has them; `item` is how it was seen. A transfer under way there is finished first. */
export async function move(context: TransferContext, from: number, to: number, amounts: Amounts, item: Item) {
  let seen = item;
  for (let tried = 0; tried < triesMax; tried += 1) {
    const underWay = readTransfer(from, seen);
    if (underWay !== undefined) {
      seen = await finishTransfer(context, underWay);
      // Perhaps our own, done in a first try whose answer was lost.
      if (underWay.to === to) return;
      continue;
    }
    if (!canGive(readRoom(context.account, from, seen), amounts)) return;
    const number = Number(seen.transfer_number ?? 0) + 1;
    const transfer: Transfer = { ...amounts, number, from, to };
    const result = await write(context, from, takeOutParts(context.account, transfer));
    if (result.kind === 'written') {
      await finishTransfer(context, transfer);
      return;
    }
    seen = result.item ?? {};
  }
}

/** A shard in debt may still give room under the limit. */
const canGive = (room: Room, { credit, headroom }: Amounts): boolean =>
  (credit === 0n || room.credit >= credit) && (headroom === 0n || (room.headroom ?? 0n) >= headroom);

/** Adds it to the target and crosses it out in the source. Returns the source as it stands then. */
export async function finishTransfer(context: TransferContext, transfer: Transfer): Promise<Item> {
  await write(context, transfer.to, putInParts(transfer));
  const { item = {} } = await write(context, transfer.from, crossOutParts(transfer));
  return item;
}

function takeOutParts(account: CreditAccount, { number, from, to, credit, headroom }: Transfer): WriteParts {
  const floor = headroom - (shareOfLimit(account, from) ?? 0n);
  const hasHeadroom = floor > 0n ? '#limit >= :floor' : 'attribute_not_exists(#limit) OR #limit >= :floor';
  return {
    set: [
      '#balance = if_not_exists(#balance, :zero) - :credit',
      '#limit = if_not_exists(#limit, :zero) - :headroom',
      'transfer_number = :number',
      'transfer_out = :transfer',
    ],
    conditions: [
      'attribute_not_exists(transfer_out)',
      number === 1 ? 'attribute_not_exists(transfer_number)' : 'transfer_number = :former',
      ...(credit > 0n ? ['#balance >= :credit'] : []),
      ...(headroom > 0n ? [hasHeadroom] : []),
    ],
    names,
    values: {
      ':zero': 0n,
      ':credit': credit,
      ':headroom': headroom,
      ':number': number,
      ':transfer': { number, to_shard: to, credit, headroom },
      ...(number === 1 ? {} : { ':former': number - 1 }),
      ...(headroom > 0n ? { ':floor': floor } : {}),
    },
  };
}

const putInParts = ({ number, from, credit, headroom }: Transfer): WriteParts => ({
  set: [
    '#balance = if_not_exists(#balance, :zero) + :credit',
    '#limit = if_not_exists(#limit, :zero) + :headroom',
    '#received = :number',
  ],
  conditions: ['attribute_not_exists(#received) OR #received < :number'],
  names: { ...names, '#received': `received#${from}` },
  values: { ':zero': 0n, ':credit': credit, ':headroom': headroom, ':number': number },
});

const crossOutParts = ({ number }: Transfer): WriteParts => ({
  remove: ['transfer_out'],
  conditions: ['transfer_out.#number = :number'],
  names: { '#number': 'number' },
  values: { ':number': number },
});

const names = { '#balance': creditAttributes.balance, '#limit': creditAttributes.limitBalance };

const write = ({ store, account, options }: TransferContext, shard: number, parts: WriteParts) =>
  store.update(toUpdate('ledger', creditKey(account.workspace, shard), [parts]), options);
