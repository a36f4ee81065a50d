// Defines the mark by which a settlement counts once. The write adds a mark to the item and requires that the mark is
// absent, so the same write sent again is refused by its own first try. Once the first try was answered, the process
// deletes the mark with its next write to the item. If a second try was needed, the mark stays, because the first try
// may still arrive. Any process removes marks that are older than any retry can be.
import type { Randomness } from '../../foundation/ids/index.ts';
import { and, contains, type Item, not } from '../../storage/store/index.ts';
import { timedName } from './counter.ts';
import type { DraftedWrite } from './update-draft.ts';

/** Lifetime of a mark: 30 s for retries, and twice as long for differences between clocks. */
const lifeMs = 90_000;
/** Length of a slot. Marks that expire in one slot share an attribute, so that a write removes them by one name. */
const slotMs = 15_000;
/** Random bytes of a mark, unique among the marks of one slot, of which there are some hundreds at most. */
const idBytes = 5;

export interface Mark {
  readonly attribute: string;
  readonly id: string;
  readonly isEven: boolean;
}

/**
 * Returns a mark. `former` is the mark that the same write deletes. DynamoDB does not add to and delete from one set in
 * the same write.
 */
export function createMark(randomness: Pick<Randomness, 'bytes'>, nowMs: number, former: Mark | undefined): Mark {
  const isEven = former?.isEven !== true;
  const endSeconds = (Math.ceil((nowMs + lifeMs) / slotMs) * slotMs) / 1_000;
  return {
    attribute: timedName(isEven ? 'evenMarks' : 'oddMarks', endSeconds),
    id: randomness.bytes(idBytes).toString('base64url'),
    isEven,
  };
}

/** Makes the write leave `mark` in the item, require that it is absent, and delete `former`. */
export function withMarks(
  { changes, condition }: DraftedWrite,
  mark: Mark | undefined,
  former: Mark | undefined,
): DraftedWrite {
  if (mark === undefined && former === undefined) return { changes, condition };
  const isFirst = mark && not(contains(mark.attribute, mark.id));
  return {
    changes: {
      ...changes,
      ...(mark && { addElements: setOf(mark) }),
      ...(former && { removeElements: setOf(former) }),
    },
    condition: condition && isFirst ? and(condition, isFirst) : (condition ?? isFirst),
  };
}

const setOf = ({ attribute, id }: Mark) => ({ [attribute]: new Set([id]) });

export const hasMark = (item: Item | undefined, { attribute, id }: Mark): boolean =>
  (item?.[attribute] as ReadonlySet<string> | undefined)?.has(id) === true;
