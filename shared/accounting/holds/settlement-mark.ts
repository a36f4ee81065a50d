// What makes a settlement count once: its write adds a mark to the item and requires that the mark is not there, so the
// same write sent again is refused by its own first try. The process deletes it with its next write to the item, once
// the first try was answered. A mark whose write needed a second try stays, because the first may still arrive; every
// mark is removed, by any process, when it is older than a repetition can be.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { timedName } from './counter.ts';
import type { UpdateDraft } from './update-draft.ts';

/** The repetitions of 30 s, and as much again as clocks may differ. */
const lifeMs = 90_000;
/** Marks that end together share an attribute: a write that removes it needs one name for all of them. */
const slotMs = 15_000;
/** 40 bits, among the marks of one slot: some hundreds at most. */
const idBytes = 5;

export interface Mark {
  readonly attribute: string;
  readonly id: string;
  readonly isEven: boolean;
}

/** `former`: the mark that the same write deletes. DynamoDB does not add to and delete from one set at a time. */
export function createMark(randomness: Pick<Randomness, 'bytes'>, nowMs: number, former: Mark | undefined): Mark {
  const isEven = former?.isEven !== true;
  const endSeconds = (Math.ceil((nowMs + lifeMs) / slotMs) * slotMs) / 1_000;
  return {
    attribute: timedName(isEven ? 'evenMarks' : 'oddMarks', endSeconds),
    id: randomness.bytes(idBytes).toString('base64url'),
    isEven,
  };
}

export function addMark(draft: UpdateDraft, { attribute, id }: Mark): void {
  const name = draft.name(attribute);
  draft.addElement(attribute, id);
  draft.require(`attribute_not_exists(${name}) OR NOT contains(${name}, ${draft.value(id)})`);
}

export const deleteMark = (draft: UpdateDraft, { attribute, id }: Mark): void => draft.deleteElement(attribute, id);

export const hasMark = (item: Item | undefined, { attribute, id }: Mark): boolean =>
  (item?.[attribute] as ReadonlySet<string> | undefined)?.has(id) === true;
