// Marks the last alert about one subject, in an attribute of the subject's item. Each try claims the alert by a
// conditional write, so that however many processes try, an alert is tried three times in all, and never again after a
// success.
import { absent, and, type Condition, equals, type Item, type Store } from '../../storage/store/index.ts';
import { type ItemAddress, readAmount } from '../holds/index.ts';

/** Maximum number of tries of an alert, by all processes together. */
export const triesMax = 3;

export interface MarkPlace extends ItemAddress {
  readonly attribute: string;
  /** Lifetime of the item from this write on, if items of the table expire. */
  readonly lifeSeconds?: number | undefined;
}

/** A mark, with short names, because items of counters are written with each call, and billed by the kilobyte. */
export interface AlertMark {
  readonly id: string;
  readonly at_ms: number;
  /** Number of tries; absent once the alert was delivered. */
  readonly tries?: number | undefined;
  /** Time at which the next try may begin. */
  readonly due_at_ms?: number | undefined;
}

export interface ShareMark extends AlertMark {
  /** Period, or another text. When the scope changes, the shares begin again. */
  readonly scope: string;
  readonly percent: number;
  readonly spent: bigint;
  readonly limit: bigint;
  /** Amount spent before the scope began, if it does not count. */
  readonly from?: bigint | undefined;
}

/** The state of a provider since the last alert. */
export interface ProviderMark extends AlertMark {
  readonly state: 'refused' | 'empty' | 'failing' | 'back';
  /** Model of the call that showed the state. */
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

/** Claims a try. `seen` is the last mark before this try. Returns the stored item if another process has the try. */
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
  // The mark may be the caller's own first attempt, whose answer was lost.
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
