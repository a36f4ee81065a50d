// Moves credit, and headroom under the spend limit, from one item to another in two writes that can neither lose nor
// create money: the first takes it out of the source and notes it there as the one transfer under way, with the next
// number of the source; the second adds it to the target unless that has seen the number; the third deletes the note.
// Any process that finds a transfer under way may finish it, at any time and repeatedly: numbers only rise, so a stale
// writer with an old one is refused. A process that dies in between leaves money on its way, never nowhere.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { CallOptions, Item, Store } from '../../storage/store/index.ts';
import { readAmount, UpdateDraft } from '../holds/index.ts';
import {
  type CreditAccount,
  creditAttributes,
  creditKey,
  ownLimit,
  readBalance,
  type ShardBalance,
} from './credit-account.ts';

/** Tries after other writes of the source. Giving up is harmless: the caller looks at all shards again. */
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
      // Perhaps this very one, done in a first try whose answer was lost.
      if (underWay.to === to) return;
      continue;
    }
    if (!canGive(readBalance(context.account, from, seen), amounts)) return;
    const transfer: Transfer = { ...amounts, number: Number(seen.transfer_number ?? 0) + 1, from, to };
    const result = await write(context, from, takeOut(context.account, transfer));
    if (result.kind === 'written') {
      await finishTransfer(context, transfer);
      return;
    }
    seen = result.item ?? {};
  }
}

/** A shard in debt may still give headroom. */
const canGive = ({ credit, headroom }: ShardBalance, amounts: Amounts): boolean =>
  (amounts.credit === 0n || credit >= amounts.credit) &&
  (amounts.headroom === 0n || (headroom ?? 0n) >= amounts.headroom);

/** Adds it to the target and deletes the note in the source. Returns the source as it stands then. */
export async function finishTransfer(context: TransferContext, transfer: Transfer): Promise<Item> {
  await write(context, transfer.to, putIn(transfer));
  const { item = {} } = await write(context, transfer.from, deleteNote(transfer));
  return item;
}

function takeOut(account: CreditAccount, { number, from, to, credit, headroom }: Transfer): UpdateDraft {
  const draft = new UpdateDraft();
  draft.add(creditAttributes.balance, -credit);
  draft.add(creditAttributes.limitBalance, -headroom);
  draft.set('transfer_number', number);
  draft.set('transfer_out', { number, to_shard: to, credit, headroom });
  draft.require('attribute_not_exists(transfer_out)');
  draft.require(
    number === 1 ? 'attribute_not_exists(transfer_number)' : `transfer_number = ${draft.value(number - 1)}`,
  );
  if (credit > 0n) draft.require(`${draft.name(creditAttributes.balance)} >= ${draft.value(credit)}`);
  if (headroom > 0n) {
    const limit = draft.name(creditAttributes.limitBalance);
    const floor = headroom - (ownLimit(account, from) ?? 0n);
    draft.require(`${floor > 0n ? '' : `attribute_not_exists(${limit}) OR `}${limit} >= ${draft.value(floor)}`);
  }
  return draft;
}

function putIn({ number, from, credit, headroom }: Transfer): UpdateDraft {
  const draft = new UpdateDraft();
  const received = `received#${from}`;
  draft.add(creditAttributes.balance, credit);
  draft.add(creditAttributes.limitBalance, headroom);
  draft.set(received, number);
  const name = draft.name(received);
  draft.require(`attribute_not_exists(${name}) OR ${name} < ${draft.value(number)}`);
  return draft;
}

function deleteNote({ number }: Transfer): UpdateDraft {
  const draft = new UpdateDraft();
  draft.remove('transfer_out');
  draft.require(`transfer_out.${draft.name('number')} = ${draft.value(number)}`);
  return draft;
}

const write = ({ store, account, options }: TransferContext, shard: number, draft: UpdateDraft) =>
  store.update(draft.toUpdate('ledger', creditKey(account.workspace, shard), { repeatable: true }), options);
