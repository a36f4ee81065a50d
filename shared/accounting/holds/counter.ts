// Defines the attributes of a counter in its item: balances, the sum spent, and reserved amounts, summed by the time
// they expire. The size of the item does not depend on the number of reservations.
import { idPattern, type TableName } from '../../foundation/constants/index.ts';
import { absent, atLeast, atMost, type Condition, type Item, or } from '../../storage/store/index.ts';

export interface ItemAddress {
  readonly table: TableName;
  readonly key: string;
}

/** Address and limits of a counter. Amounts are integers, in pico-USD or slots. */
export interface Counter extends ItemAddress {
  readonly balances: readonly Balance[];
  /** Attribute that sums up settled amounts. Absent if nothing is consumed, as with slots. */
  readonly spentAttribute?: string;
  /**
   * Maximum number of calls that may have a slot at the same time, in addition to their amounts. Null or absent: any
   * number.
   */
  readonly slotsMax?: number | null;
  /**
   * Number of free slots from which the release of a slot may be delayed for a moment. Default: half of a shard of a
   * large pool.
   */
  readonly spareSlotsMin?: bigint;
}

/** A number in the item, which is the granted amount less reserved and spent amounts. An absent balance is 0. */
export interface Balance {
  readonly attribute: string;
  /**
   * A limit outside the item that is added to the balance: 0 if only the balance may be spent. Null: no limit, and
   * the balance only counts.
   */
  readonly limit: bigint | null;
}

export interface Hold {
  /**
   * Unique per request, matches `idPattern`. The owner is not stored. It distinguishes a repeated settlement from
   * another settlement.
   */
  readonly owner: string;
  /** Amount above 0, or 0 if only a slot is reserved. */
  readonly amount: bigint;
  readonly expiresAtMs: number;
  /** True if the same writes take and release a slot too. */
  readonly slot?: boolean | undefined;
}

/** The amounts of any number of reservations that expire at one moment. */
export interface HeldAmount {
  readonly amount: bigint;
  readonly expiresAtMs: number;
}

/** The item as the store last returned it. */
export interface SeenItem {
  /** The item; {} if there is none. */
  readonly item: Item;
  /** Time of the read. The item was current at this time or later. */
  readonly atMs: number;
}

/**
 * Kinds of attributes that end by themselves. Their names consist of a letter and a moment, in seconds since the epoch
 * to base 36. No name is ever used again, so a stale writer finds its own attribute or none.
 */
export type TimedKind = keyof typeof timedKinds;
const timedKinds = {
  /** Amounts reserved until that moment. */
  held: 'H',
  /** Slots reserved until that moment, in an item that has amounts too. */
  heldSlots: 'S',
  /**
   * Marks of settlements, deleted at that moment; there are two sets, because one write adds to one and deletes from
   * the other.
   */
  evenMarks: 'M',
  oddMarks: 'N',
  /** Amount spent when the period of the spend limit began. */
  periodStart: 'P',
  /** Requests of the part of a minute that begins at that moment. */
  requests: 'R',
  /** Tokens of the part of a minute, and of a day, that begins at that moment. */
  minuteTokens: 'T',
  dayTokens: 'D',
  /** Time of the last call of that part of a minute, and of a day: milliseconds into the part. */
  lastInMinutePart: 'L',
  lastInDayPart: 'E',
} as const;

/** Contents of buckets by the time they expire. */
export type HeldKind = 'held' | 'heldSlots';

const base = 36;

export const timedName = (kind: TimedKind, atSeconds: number): string => timedKinds[kind] + atSeconds.toString(base);

interface TimedAttribute {
  readonly name: string;
  readonly atMs: number;
  readonly value: unknown;
}

export function readTimedAttributes(item: Item, kind: TimedKind): TimedAttribute[] {
  const timed: TimedAttribute[] = [];
  for (const name in item) {
    if (!name.startsWith(timedKinds[kind])) continue;
    timed.push({ name, atMs: momentOf(name), value: item[name] });
  }
  return timed;
}

const msPerSecond = 1_000;

const momentOf = (timedName: string): number => Number.parseInt(timedName.slice(1), base) * msPerSecond;

/**
 * Returns the length of a bucket. A reservation expires 70 to 75 seconds after its call arrived, or within a fifteenth
 * of a longer life.
 */
export const bucketSecondsOf = (holdLifeMs: number): number => Math.max(5, Math.floor(holdLifeMs / (15 * msPerSecond)));

/**
 * Returns the attribute that counts a reservation with that expiry. The attribute is named by the first end of a bucket
 * that is not before the expiry.
 */
export const heldAttribute = (kind: HeldKind, expiresAtMs: number, bucketSeconds: number): string =>
  timedName(kind, Math.ceil(expiresAtMs / (bucketSeconds * msPerSecond)) * bucketSeconds);

/** Returns true if attributes of a kind have ended at a moment. */
export function hasTimedUntil(item: Item, kind: TimedKind, untilMs: number): boolean {
  for (const name in item) {
    if (name.startsWith(timedKinds[kind]) && momentOf(name) <= untilMs) return true;
  }
  return false;
}

export const readHeldAmounts = (item: Item, kind: HeldKind = 'held'): HeldAmount[] =>
  readTimedAttributes(item, kind).map(({ atMs, value }) => ({ amount: readAmount(value), expiresAtMs: atMs }));

/** Returns the balance of slots, which is minus the number of used slots, in an item that has amounts too. */
export const slotBalance = (max: number | null): Balance => ({
  attribute: 'balance_slots',
  limit: max === null ? null : BigInt(max),
});

/** Returns the number of slots in use at a moment, by the item. */
export const readSlotsInUse = (item: Item, nowMs: number): number =>
  Number(
    readHeldAmounts(item, 'heldSlots').reduce(
      (sum, { amount, expiresAtMs }) => (expiresAtMs > nowMs ? sum + amount : sum),
      0n,
    ),
  );

/** Returns an amount: the store returns numbers as number or bigint; absent is 0. */
export const readAmount = (value: unknown): bigint => BigInt((value as number | bigint | undefined) ?? 0);

/** Tests an amount; an absent amount is 0. */
export const amountAtLeast = (attribute: string, floor: bigint): Condition =>
  floor > 0n ? atLeast(attribute, floor) : or(absent(attribute), atLeast(attribute, floor));

export const amountAtMost = (attribute: string, max: bigint): Condition =>
  max < 0n ? atMost(attribute, max) : or(absent(attribute), atMost(attribute, max));

/**
 * Returns the amount that a further reservation may take, which is the least of all limited balances. Null means no
 * limit. The amount may be negative.
 */
export function readAvailable(balances: readonly Balance[], item: Item): bigint | null {
  let least: bigint | null = null;
  for (const { attribute, limit } of balances) {
    if (limit === null) continue;
    const remaining = readAmount(item[attribute]) + limit;
    if (least === null || remaining < least) least = remaining;
  }
  return least;
}

/** Returns an error for an invalid reservation, which is a fault of the caller. */
export function faultOfHold({ owner, amount, expiresAtMs, slot = false }: Hold): RangeError | undefined {
  if (!idPattern.test(owner)) return new RangeError('the owner of a hold must match idPattern');
  if (amount < 0n || (amount === 0n && !slot)) return new RangeError(`a hold of ${amount}: the amount must be above 0`);
  if (Number.isSafeInteger(expiresAtMs)) return undefined;
  return new RangeError('the expiry of a hold must be whole milliseconds');
}
