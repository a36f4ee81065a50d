// What a counter with holds looks like inside an item, and how it is read. One hold is one attribute `hold#<owner>`
// with an amount and an expiry; a counter has a balance for each limit that its holds draw on, and the sum it spent.
import type { TableName } from '../../foundation/constants/index.ts';
import { idPattern } from '../../foundation/constants/index.ts';
import type { Item } from '../../storage/store/index.ts';

/** Where a counter stands and what limits it. Amounts are integers: pico-USD, slots. */
export interface Counter {
  readonly table: TableName;
  readonly key: string;
  readonly balances: readonly Balance[];
  /** Attribute that sums up what was settled. Left out where nothing is consumed, as with slots. */
  readonly spentAttribute?: string;
}

/** A number in the item: what was put in, less what is held, less what was spent. An absent one is 0. */
export interface Balance {
  readonly attribute: string;
  /**
   * A limit that stands outside and is added: 0 where the balance itself is what may be spent. Null: nothing limits it,
   * and the balance only counts.
   */
  readonly limit: bigint | null;
}

export interface Hold {
  /** Whoever may settle it: unique per request, `idPattern`. */
  readonly owner: string;
  /** Above 0. Within an item 0 means: expired, and its amount was given back to the balance. */
  readonly amount: bigint;
  readonly expiresAtMs: number;
}

/**
 * How long after its expiry a hold whose amount was given back keeps its place, so that an owner that was only late
 * still pays exactly once. A minute would do on Lambda, which ends an owner before its lease ends; a process of the
 * operator's own may have been suspended for longer.
 */
export const lateSettlementMs = 600_000;

const holdPrefix = 'hold#';

export const holdAttribute = (owner: string): string => `${holdPrefix}${owner}`;

/** A map with units in its names: {amount, until_ms}. */
export const holdEntry = ({ amount, expiresAtMs }: Hold) => ({ amount, until_ms: expiresAtMs });

export function readHolds(item: Item): Hold[] {
  return Object.entries(item).flatMap(([attribute, value]) => {
    if (!attribute.startsWith(holdPrefix)) return [];
    const entry = value as ReturnType<typeof holdEntry>;
    return [
      { owner: attribute.slice(holdPrefix.length), amount: readAmount(entry.amount), expiresAtMs: entry.until_ms },
    ];
  });
}

export const findHold = (item: Item, owner: string): Hold | undefined =>
  readHolds(item).find((hold) => hold.owner === owner);

/** Numbers come from the store as number or bigint; absent is 0. */
export const readAmount = (value: unknown): bigint => BigInt((value as number | bigint | undefined) ?? 0);

/** What a further hold may draw: the least of all limited balances. Null: nothing limits it. May be negative. */
export function readAvailable(counter: Counter, item: Item): bigint | null {
  const rooms = counter.balances.flatMap(({ attribute, limit }) =>
    limit === null ? [] : [readAmount(item[attribute]) + limit],
  );
  const [least = null] = rooms.toSorted((a, b) => (a < b ? -1 : 1));
  return least;
}

export const isExpired = ({ expiresAtMs }: Hold, nowMs: number): boolean => expiresAtMs <= nowMs;

/** Nobody settles it any more. */
export const isForgettable = ({ expiresAtMs }: Hold, nowMs: number): boolean => expiresAtMs + lateSettlementMs <= nowMs;

/** Throws a RangeError: what a caller must never ask for. */
export function checkHold({ owner, amount, expiresAtMs }: Hold): void {
  if (!idPattern.test(owner)) throw new RangeError('the owner of a hold must match idPattern');
  if (amount <= 0n) throw new RangeError(`a hold of ${amount}: the amount must be above 0`);
  if (!Number.isSafeInteger(expiresAtMs)) throw new RangeError('the expiry of a hold must be whole milliseconds');
}
