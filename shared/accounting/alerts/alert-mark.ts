// The mark of the last alert about one thing: an attribute beside what it is about. Each try claims it by a conditional
// write, so however many processes try, an alert is tried three times in all, and after a success never again.
import { absent, and, type Condition, equals, type Item, type Store } from '../../storage/store/index.ts';
import { type ItemAddress, readAmount } from '../holds/index.ts';

/** An alert is tried so often, by whichever processes. */
export const triesMax = 3;

export interface MarkPlace extends ItemAddress {
  readonly attribute: string;
  /** Life of its item from the write on, where items of its table end. */
  readonly lifeSeconds?: number | undefined;
}

/** As short as it can be: items of counters are written with each call, and billed by the kilobyte. */
export interface AlertMark {
  readonly id: string;
  readonly at_ms: number;
  /** Absent: it was delivered. */
  readonly tries?: number | undefined;
  /** When the next try may begin. */
  readonly due_at_ms?: number | undefined;
}

export interface ShareMark extends AlertMark {
  /** The period, or what else begins the shares anew. */
  readonly scope: string;
  readonly percent: number;
  readonly spent: bigint;
  readonly limit: bigint;
  /** Spent before the scope began, where that does not count. */
  readonly from?: bigint | undefined;
}

/** The state of a provider since then. */
export interface ProviderMark extends AlertMark {
  readonly state: 'refused' | 'empty' | 'failing' | 'back';
  /** Whose call showed it. */
  readonly model: string;
}

export function readShareMark(item: Item, attribute: string): ShareMark | undefined {
  const mark = item[attribute] as ShareMark | undefined;
  if (mark === undefined) return undefined;
  const { spent, limit, from } = mark;
  return {
    ...mark,
    spent: readAmount(spent),
    limit: readAmount(limit),
    ...(from === undefined ? {} : { from: readAmount(from) }),
  };
}

/** Whether this try is the caller's. `seen`: the mark that it follows. Otherwise the item that was in the way. */
export async function claimMark(
  store: Pick<Store, 'update'>,
  { table, key, attribute, lifeSeconds }: MarkPlace,
  seen: AlertMark | undefined,
  mark: AlertMark,
  nowMs: number,
): Promise<'claimed' | Item> {
  const life = lifeSeconds === undefined ? {} : { expires_at_epoch_seconds: Math.ceil(nowMs / 1_000) + lifeSeconds };
  const changes = { set: { [attribute]: mark, ...life } };
  const update = { table, key, changes, condition: isAsSeen(attribute, seen), repeatable: true } as const;
  const { kind, item = {} } = await store.update(update);
  if (kind === 'written') return 'claimed';
  // Perhaps the own first attempt, whose answer was lost.
  const there = item[attribute] as AlertMark | undefined;
  return there?.id === mark.id && there.tries === mark.tries && there.due_at_ms === mark.due_at_ms ? 'claimed' : item;
}

const isAsSeen = (attribute: string, seen: AlertMark | undefined): Condition =>
  seen === undefined
    ? absent(attribute)
    : and(
        equals([attribute, 'id'], seen.id),
        seen.tries === undefined ? absent([attribute, 'tries']) : equals([attribute, 'tries'], seen.tries),
      );
