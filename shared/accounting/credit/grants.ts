// Credit comes in: when the workspace is created, and when an operator adds some. Both may be asked for twice.
//
// Additions are remembered by id in an item of their own, so that the counter's item stays small however many there
// are. What is added moves from there to the counter like a transfer between shards: noted under the next number, added
// unless that number was seen, and the note deleted. An addition whose process died is finished by the next one.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import { readAmount, UpdateDraft } from '../holds/index.ts';
import { creditAttributes, creditKey } from './credit-account.ts';

/** How long an addition is remembered by its id. An operator who repeats one does it within days. */
const additionKeptMs = 30 * 86_400_000;
/** Old additions one further addition forgets. */
const forgottenPerAdditionMax = 20;
const additionPrefix = 'addition#';
const receivedAttribute = 'received#additions';
/** Tries after other additions of the same workspace. */
const triesMax = 10;

export interface Addition {
  readonly workspace: string;
  readonly amount: PicoUsd;
  /** The same id adds once, within 30 days. */
  readonly id: string;
  readonly nowMs: number;
}

const additionsKey = (workspace: string): string => `ADDITIONS#${workspace}`;

/** Sets the credit of a workspace that has none yet, and leaves every other alone. */
export async function createCredit(store: Store, workspace: string, credit: PicoUsd): Promise<'created' | 'existing'> {
  if (credit < 0n) throw new RangeError(`a credit of ${credit}: it must not be negative`);
  const draft = grant(credit);
  draft.require(`attribute_not_exists(${draft.name(creditAttributes.granted)})`);
  // 0 is granted too: it tells that the workspace exists.
  if (credit === 0n) draft.set(creditAttributes.granted, 0n);
  const { kind } = await writeCredit(store, workspace, draft);
  return kind === 'written' ? 'created' : 'existing';
}

/** 'known': this id was added before. 'absent': the workspace has no credit yet, create it first. */
export async function addCredit(store: Store, addition: Addition): Promise<'added' | 'known' | 'absent'> {
  const { workspace, amount, id } = addition;
  if (amount <= 0n) throw new RangeError(`an addition of ${amount}: it must be above 0`);
  const credit = await store.get('ledger', creditKey(workspace, 0));
  if (credit?.[creditAttributes.granted] === undefined) return 'absent';
  let seen = (await store.get('ledger', additionsKey(workspace))) ?? {};
  for (let tried = 0; tried < triesMax; tried += 1) {
    await finishAddition(store, workspace, seen);
    const former = seen[additionPrefix + id] as { amount: unknown } | undefined;
    if (former !== undefined) {
      if (readAmount(former.amount) !== amount)
        throw new Error(`the addition ${id} was made before, of another amount`);
      return 'known';
    }
    const result = await store.update(
      noteAddition(addition, seen).toUpdate('ledger', additionsKey(workspace), { repeatable: false }),
    );
    seen = result.item ?? {};
    if (result.kind === 'refused') continue;
    await finishAddition(store, workspace, seen);
    return 'added';
  }
  throw new Error(`other additions to ${workspace} came first in every try: ask again`);
}

function noteAddition({ amount, id, nowMs }: Addition, seen: Item): UpdateDraft {
  const draft = new UpdateDraft();
  const entry = additionPrefix + id;
  const former = Number(seen.addition_number ?? 0);
  draft.set(entry, { amount, at_ms: nowMs });
  draft.set('addition_number', former + 1);
  draft.set('addition_out', { amount, number: former + 1 });
  draft.require(`attribute_not_exists(${draft.name(entry)}) AND attribute_not_exists(addition_out)`);
  draft.require(former === 0 ? 'attribute_not_exists(addition_number)' : `addition_number = ${draft.value(former)}`);
  const old = Object.entries(seen)
    .filter(([name]) => name.startsWith(additionPrefix))
    .filter(([, made]) => (made as { at_ms: number }).at_ms + additionKeptMs <= nowMs)
    .slice(0, forgottenPerAdditionMax);
  for (const [name] of old) draft.remove(name);
  return draft;
}

/** Does nothing where none is under way. */
async function finishAddition(store: Store, workspace: string, seen: Item): Promise<void> {
  const underWay = seen.addition_out as { amount: unknown; number: number } | undefined;
  if (underWay === undefined) return;
  const added = grant(readAmount(underWay.amount));
  const [received, number] = [added.name(receivedAttribute), added.value(underWay.number)];
  added.set(receivedAttribute, underWay.number);
  added.require(`attribute_not_exists(${received}) OR ${received} < ${number}`);
  await writeCredit(store, workspace, added);
  const note = new UpdateDraft();
  note.remove('addition_out');
  note.require(`addition_out.${note.name('number')} = ${note.value(underWay.number)}`);
  await store.update(note.toUpdate('ledger', additionsKey(workspace), { repeatable: true }));
}

function grant(amount: PicoUsd): UpdateDraft {
  const draft = new UpdateDraft();
  draft.add(creditAttributes.granted, amount);
  draft.add(creditAttributes.balance, amount);
  return draft;
}

const writeCredit = (store: Store, workspace: string, draft: UpdateDraft) =>
  store.update(draft.toUpdate('ledger', creditKey(workspace, 0), { repeatable: true }));
