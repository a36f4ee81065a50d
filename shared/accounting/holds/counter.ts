// The form of a counter inside its item: balances, the sum spent, and reserved amounts, summed by the time they expire.
// The size of the item does not depend on the number of reservations.
import { idPattern, type TableName } from '../../foundation/constants/index.ts';
import { absent, atLeast, atMost, type Condition, type Item, or } from '../../storage/store/index.ts';

export interface ItemAddress {
  readonly table: TableName;
  readonly key: string;
}

/** Address and limits of a counter. Amounts are integers: pico-USD, slots. */
export interface Counter extends ItemAddress {
  readonly balances: readonly Balance[];
  /** Attribute that sums up settled amounts. Absent where nothing is consumed, as with slots. */
  readonly spentAttribute?: string;
  /** Number of calls that may have a slot at the same time, beside their amounts. Null or absent: any number. */
  readonly slotsMax?: number | null;
  /** Free slots that are enough to delay the release of one for a moment. Default: half of a shard of a large pool. */
  readonly spareSlotsMin?: bigint;
}

/** A number in the item: the granted amount less reserved and spent amounts. An absent one is 0. */
export interface Balance {
  readonly attribute: string;
  /**
   * A limit outside the item that is added: 0 where the balance itself may be spent. Null: no limit, and the balance
   * only counts.
   */
  readonly limit: bigint | null;
}

export interface Hold {
  /** Unique per request, `idPattern`. Not stored: it distinguishes a repeated settlement from another one. */
  readonly owner: string;
  /** Above 0, or 0 where only a slot is reserved. */
  readonly amount: bigint;
  readonly expiresAtMs: number;
  /** Whether the same writes take and release a slot too. */
  readonly slot?: boolean | undefined;
}

/** The amounts of any number of reservations that expire at one moment. */
export interface HeldAmount {
  readonly amount: bigint;
  readonly expiresAtMs: number;
}

/** The item as the store last answered it. */
export interface SeenItem {
  /** {} where there is none. */
  readonly item: Item;
  /** Time of the read: the item was current then or later. */
  readonly atMs: number;
}

/**
 * Attributes that end by themselves are named by a letter and a moment, in seconds since the epoch to base 36. No name
 * is ever used again, so a stale writer finds its attribute or none.
 */
export type TimedKind = keyof typeof timedKinds;
const timedKinds = {
  /** Amounts reserved until then. */
  held: 'H',
  /** Slots reserved until then, in an item that has amounts too. */
  heldSlots: 'S',
  /** Marks of settlements, kept until then; two sets, because one write adds to one and deletes from the other. */
  evenMarks: 'M',
  oddMarks: 'N',
  /** Amount spent when the period of the spend limit began. */
  periodStart: 'P',
  /** Requests of the part of a minute that begins then. */
  requests: 'R',
  /** Tokens of the part of a minute, and of a day, that begins then. */
  minuteTokens: 'T',
  dayTokens: 'D',
  /** When the last call of that part of a minute, and of a day, came: milliseconds into the part. */
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

export function readTimed(item: Item, kind: TimedKind): TimedAttribute[] {
  const timed: TimedAttribute[] = [];
  for (const name of Object.keys(item)) {
    if (!name.startsWith(timedKinds[kind])) continue;
    timed.push({ name, atMs: Number.parseInt(name.slice(1), base) * msPerSecond, value: item[name] });
  }
  return timed;
}

const msPerSecond = 1_000;

/** A reservation expires 70 to 75 seconds after its call arrived, or within a fifteenth of a longer life. */
export const bucketSecondsOf = (holdLifeMs: number): number => Math.max(5, Math.floor(holdLifeMs / (15 * msPerSecond)));

/** The attribute that counts a reservation of that expiry: the first end of a bucket that is not before it. */
export const heldAttribute = (kind: HeldKind, expiresAtMs: number, bucketSeconds: number): string =>
  timedName(kind, Math.ceil(expiresAtMs / (bucketSeconds * msPerSecond)) * bucketSeconds);

export const readHeld = (item: Item, kind: HeldKind = 'held'): HeldAmount[] =>
  readTimed(item, kind).map(({ atMs, value }) => ({ amount: readAmount(value), expiresAtMs: atMs }));

/** Minus the taken slots, in an item that has amounts too. */
export const slotBalance = (max: number | null): Balance => ({
  attribute: 'balance_slots',
  limit: max === null ? null : BigInt(max),
});

/** Slots in use at a moment, by the item. */
export const readSlotsInUse = (item: Item, nowMs: number): number =>
  Number(
    readHeld(item, 'heldSlots').reduce(
      (sum, { amount, expiresAtMs }) => (expiresAtMs > nowMs ? sum + amount : sum),
      0n,
    ),
  );

/** Numbers come from the store as number or bigint; absent is 0. */
export const readAmount = (value: unknown): bigint => BigInt((value as number | bigint | undefined) ?? 0);

/** An absent amount is 0. */
export const amountAtLeast = (attribute: string, floor: bigint): Condition =>
  floor > 0n ? atLeast(attribute, floor) : or(absent(attribute), atLeast(attribute, floor));

export const amountAtMost = (attribute: string, max: bigint): Condition =>
  max < 0n ? atMost(attribute, max) : or(absent(attribute), atMost(attribute, max));

/** Amount that a further reservation may take: the least of all limited balances. Null: no limit. May be negative. */
export function readAvailable(balances: readonly Balance[], item: Item): bigint | null {
  let least: bigint | null = null;
  for (const { attribute, limit } of balances) {
    if (limit === null) continue;
    const remaining = readAmount(item[attribute]) + limit;
    if (least === null || remaining < least) least = remaining;
  }
  return least;
}

/** Throws a RangeError for an invalid reservation, which is a fault of the caller. */
export function checkHold({ owner, amount, expiresAtMs, slot = false }: Hold): void {
  if (!idPattern.test(owner)) throw new RangeError('the owner of a hold must match idPattern');
  if (amount < 0n || (amount === 0n && !slot)) throw new RangeError(`a hold of ${amount}: the amount must be above 0`);
  if (!Number.isSafeInteger(expiresAtMs)) throw new RangeError('the expiry of a hold must be whole milliseconds');
}
