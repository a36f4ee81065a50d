// Prepares one write, and tracks the capacity that remains as requests join it in turn.
import { absent, atLeast, equals, exists, type Item, or } from '../../storage/store/index.ts';
import {
  amountAtLeast,
  amountAtMost,
  type Balance,
  type HeldKind,
  hasTimedUntil,
  readAmount,
  readAvailable,
  readHeldAmounts,
  readTimedAttributes,
  type SeenItem,
  slotBalance,
} from './counter.ts';
import type {
  Correction,
  Count,
  CounterReserved,
  Demand,
  Insufficient,
  Limited,
  Settlement,
  UnreservedCharge,
} from './requests.ts';
import { type DraftedWrite, UpdateDraft } from './update-draft.ts';
import { addCount, correctCount, readWindow, type Window, type WindowUse, waitMs } from './windows.ts';

type Coverage = 'covered' | 'late' | 'gone';
/**
 * 'wait': the demand would fit without the other demands of this write, which may not be made. 'look': the item is not
 * known.
 */
type Verdict = 'fits' | 'wait' | 'look' | CounterReserved | Limited | Insufficient;

type Spending = Pick<UnreservedCharge, 'counter' | 'amount' | 'prepare'>;

const markKinds = ['evenMarks', 'oddMarks'] as const;
const slotBalances = [slotBalance(null)];
const slotAttributes: ReadonlySet<string> = new Set(slotBalances.map(({ attribute }) => attribute));

export class WriteGroup {
  readonly #draft = new UpdateDraft();
  readonly #seen: SeenItem | undefined;
  readonly #nowMs: number;
  readonly #amounts: BalanceChange;
  readonly #slots: BalanceChange;
  /** Most writes count in no window, or in one. */
  readonly #windows: (WindowUse & { readonly window: Window; counted: bigint; totalMax: bigint | undefined })[] = [];

  constructor(seen: SeenItem | undefined, nowMs: number) {
    this.#seen = seen;
    this.#nowMs = nowMs;
    this.#amounts = new BalanceChange('held', this.#draft, seen);
    this.#slots = new BalanceChange('heldSlots', this.#draft, seen);
  }

  settle({ counter, bucket, held, actual, slotBucket, prepare }: Settlement): Coverage {
    const item = this.#seen?.item ?? {};
    const slot =
      slotBucket === undefined ? undefined : this.#slots.settle(slotBalances, { bucket: slotBucket, amount: 1n }, 0n);
    if (held === 0n && slot !== undefined) {
      if (slot !== 'gone' && actual > 0n) this.#charge({ counter, amount: actual, prepare }, item);
      return slot;
    }
    const coverage = this.#amounts.settle(counter.balances, { bucket, amount: held }, actual);
    if (coverage === 'gone') return slot ?? coverage;
    this.#countSpent({ counter, amount: actual, prepare }, item);
    return coverage;
  }

  charge(charge: UnreservedCharge): Coverage {
    const { requiredAttribute } = charge;
    if (this.#seen !== undefined && this.#seen.item[requiredAttribute] === undefined) return 'gone';
    this.#draft.require(exists(requiredAttribute));
    this.#charge(charge, this.#seen?.item ?? charge.known);
    return 'covered';
  }

  #charge(charge: Spending, item: Item): void {
    this.#amounts.charge(charge.counter.balances, charge.amount);
    this.#countSpent(charge, item);
  }

  #countSpent({ counter: { spentAttribute }, amount, prepare }: Spending, item: Item): void {
    if (spentAttribute !== undefined) this.#draft.add(spentAttribute, amount);
    prepare?.(this.#draft, item);
  }

  correct({ changes, countedAtMs }: Correction): Coverage {
    const corrected = changes.filter(({ window, change }) => {
      const isCorrected = correctCount(this.#draft, window, change, countedAtMs, this.#nowMs, this.#seen?.item);
      const use = isCorrected ? this.#useOf(window) : undefined;
      if (use !== undefined) use.counted += change;
      return isCorrected;
    });
    return corrected.length === 0 ? 'gone' : 'covered';
  }

  /**
   * Releases expired reservations. Slots are released with every write, amounts with a write that knows their balances.
   */
  releaseExpired(wanted: readonly Pick<Demand, 'balances' | 'hold' | 'slot'>[]): void {
    if (this.#seen === undefined) return;
    const draft = this.#draft;
    for (const kind of markKinds) {
      for (const { name, atMs } of readTimedAttributes(this.#seen.item, kind))
        if (atMs <= this.#nowMs) draft.remove(name);
    }
    if (this.#amounts.hasExpired()) {
      const attributes = new Set(wanted.flatMap(({ balances = [] }) => balances.map(({ attribute }) => attribute)));
      this.#amounts.releaseExpired(
        attributes,
        wanted.map(({ hold }) => hold?.bucket),
      );
    }
    if (this.#slots.hasExpired()) {
      this.#slots.releaseExpired(
        slotAttributes,
        wanted.map(({ slot }) => slot?.bucket),
      );
    }
  }

  /** Judges a demand. `isWriting` is true if other requests have this write made in any case. */
  judge(demand: Demand, isWriting: boolean): Verdict {
    const { hold, balances = [], slot, counts = [] } = demand;
    const takesNothing =
      hold === undefined && slot === undefined && counts.every(({ isCounted }) => isCounted === false);
    const wantsNoWrite = takesNothing && !isWriting && !this.#amounts.releases && !this.#slots.releases;
    if ((wantsNoWrite || counts.length > 0) && this.#seen === undefined) return 'look';
    const item = this.#seen?.item ?? {};
    let retryAfterMs = 0;
    for (const count of counts) retryAfterMs = Math.max(retryAfterMs, this.#waitOf(count));
    if (retryAfterMs > 0) return { kind: 'limited', item, retryAfterMs };
    if (wantsNoWrite) return { kind: 'reserved', item, atMs: this.#nowMs };
    const slotTaken = slot && { balances: [slotBalance(slot.limit)], bucket: slot.bucket, amount: 1n };
    // The order of these checks is the precedence of their refusals.
    const amounts = hold && this.#amounts.available(balances);
    if (hold && amounts && amounts.now < hold.amount)
      return { kind: 'insufficient', item, short: 'amount', available: amounts.now };
    const slots = slotTaken && this.#slots.available(slotTaken.balances);
    if (slots && slots.now < 1n) return { kind: 'insufficient', item, short: 'slots', available: slots.now };
    const fits = (!hold || !amounts || amounts.here >= hold.amount) && (!slots || slots.here >= 1n);
    if (!fits || counts.some(({ window, amount, limit }) => this.#usedOf(window) + amount > limit)) return 'wait';
    if (hold) this.#amounts.take(balances, hold);
    if (slotTaken) this.#slots.take(slotTaken.balances, slotTaken);
    for (const count of counts) if (count.isCounted !== false) this.#count(count);
    demand.prepare?.(this.#draft);
    return 'fits';
  }

  /** Returns the wait by the item alone. */
  #waitOf({ window, amount, limit }: Count): number {
    const use = this.#useOf(window);
    if (use === undefined || use.used + amount <= limit) return 0;
    return waitMs(window, use, amount, limit, this.#nowMs);
  }

  /** Returns the use, counts of this write included. */
  #usedOf(window: Window): bigint {
    const use = this.#useOf(window);
    return use === undefined ? 0n : use.used + use.counted;
  }

  #useOf(window: Window) {
    if (this.#seen === undefined) return undefined;
    const known = this.#windows.find((use) => use.window === window);
    if (known !== undefined) return known;
    const use = { window, ...readWindow(window, this.#seen, this.#nowMs), counted: 0n, totalMax: undefined };
    this.#windows.push(use);
    return use;
  }

  #count({ window, amount, limit }: Count): void {
    const use = this.#useOf(window);
    if (use === undefined) return;
    use.counted += amount;
    const totalMax = limit + use.total - use.used - use.counted;
    use.totalMax = use.totalMax === undefined || totalMax < use.totalMax ? totalMax : use.totalMax;
    addCount(this.#draft, window, amount, this.#nowMs);
  }

  finish(): DraftedWrite {
    const draft = this.#draft;
    this.#amounts.finish();
    this.#slots.finish();
    // Conditions cannot add, so a total is compared with its maximum.
    for (const { window, totalMax, over } of this.#windows) {
      for (const attribute of over) draft.remove(attribute);
      if (totalMax === undefined) continue;
      draft.require(amountAtMost(window.totalAttribute, totalMax));
    }
    return draft.finish();
  }
}

// Effect of one write on one kind of amount in an item, money or slots: settlements and expired reservations release
// it, new reservations take it. Both kinds are in one item and change in the same instant.

interface BucketAmount {
  readonly bucket: string;
  readonly amount: bigint;
}

class BalanceChange {
  readonly #kind: HeldKind;
  readonly #draft: UpdateDraft;
  readonly #seen: SeenItem | undefined;
  /** Amount that was released; all balances of a kind change alike. */
  #returned = 0n;
  #taken = 0n;
  /** Expired amount by the item; the same for each reservation of the write. */
  #expired: bigint | undefined;
  #releases = false;
  /** Undefined until amounts are released, or taken, because most writes do only one of these. */
  #outOfBuckets: Map<string, bigint> | undefined;
  #floors: Map<string, bigint> | undefined;

  constructor(kind: HeldKind, draft: UpdateDraft, seen: SeenItem | undefined) {
    this.#kind = kind;
    this.#draft = draft;
    this.#seen = seen;
  }

  /** True if expired reservations are released, whatever else is requested. */
  get releases(): boolean {
    return this.#releases;
  }

  /** Settles by the item's state after the reservation; if unknown, the bucket is expected to contain it. */
  settle(
    balances: readonly Balance[],
    { bucket, amount: held }: BucketAmount,
    actual: bigint,
  ): 'covered' | 'late' | 'gone' {
    const draft = this.#draft;
    const item = this.#seen?.item;
    if (item !== undefined && balances.some(({ attribute }) => item[attribute] === undefined)) return 'gone';
    const takenOut = this.#outOfBuckets?.get(bucket) ?? 0n;
    const isLate = item !== undefined && readAmount(item[bucket]) < takenOut + held;
    const returned = isLate ? -actual : held - actual;
    if (isLate) {
      for (const { attribute } of balances) draft.require(exists(attribute));
    } else {
      this.#outOfBuckets ??= new Map();
      this.#outOfBuckets.set(bucket, takenOut + held);
      draft.add(bucket, -held);
    }
    for (const { attribute } of balances) draft.add(attribute, returned);
    this.#returned += returned;
    return isLate ? 'late' : 'covered';
  }

  /** Charges a cost for which nothing was reserved. */
  charge(balances: readonly Balance[], amount: bigint): void {
    for (const { attribute } of balances) this.#draft.add(attribute, -amount);
    this.#returned -= amount;
  }

  /** Returns true if buckets had expired when the item was seen. */
  hasExpired(): boolean {
    return this.#seen !== undefined && hasTimedUntil(this.#seen.item, this.#kind, this.#seen.atMs);
  }

  /**
   * Releases buckets that had expired when the item was seen; buckets that others may have changed since then wait for
   * a newer copy.
   */
  releaseExpired(attributes: ReadonlySet<string>, bucketsInUse: readonly (string | undefined)[]): void {
    if (this.#seen === undefined) return;
    const draft = this.#draft;
    const { item, atMs: seenAtMs } = this.#seen;
    for (const { name, atMs, value } of readTimedAttributes(item, this.#kind)) {
      const amount = readAmount(value);
      if (atMs > seenAtMs || bucketsInUse.includes(name) || this.#outOfBuckets?.has(name) === true) continue;
      if (amount !== 0n && attributes.size === 0) continue;
      draft.remove(name);
      draft.require(amount === 0n ? or(absent(name), equals(name, amount)) : equals(name, amount));
      for (const attribute of attributes) draft.add(attribute, amount);
      this.#returned += amount;
      this.#releases ||= amount !== 0n;
    }
  }

  /**
   * Returns the rest by the item, expired amounts included, and the rest after the requests of this write. Null: no
   * limit.
   */
  available(balances: readonly Balance[]): { readonly now: bigint; readonly here: bigint } | null {
    if (this.#seen === undefined) return null;
    const available = readAvailable(balances, this.#seen.item);
    if (available === null) return null;
    this.#expired ??= expiredIn(this.#seen, this.#kind);
    return { now: available + this.#expired, here: available + this.#returned - this.#taken };
  }

  take(balances: readonly Balance[], { bucket, amount }: BucketAmount): void {
    const draft = this.#draft;
    this.#taken += amount;
    draft.add(bucket, amount);
    for (const { attribute, limit } of balances) {
      draft.add(attribute, -amount);
      if (limit === null) continue;
      const floor = this.#taken - this.#returned - limit;
      this.#floors ??= new Map();
      const known = this.#floors.get(attribute);
      this.#floors.set(attribute, known === undefined || floor > known ? floor : known);
    }
  }

  /** Adds the condition. Conditions cannot add, so a number is compared with its minimum. */
  finish(): void {
    const draft = this.#draft;
    for (const [bucket, amount] of this.#outOfBuckets ?? []) draft.require(atLeast(bucket, amount));
    for (const [attribute, floor] of this.#floors ?? []) draft.require(amountAtLeast(attribute, floor));
  }
}

function expiredIn({ item, atMs }: SeenItem, kind: HeldKind): bigint {
  if (!hasTimedUntil(item, kind, atMs)) return 0n;
  return readHeldAmounts(item, kind).reduce(
    (sum, { amount, expiresAtMs }) => (expiresAtMs <= atMs ? sum + amount : sum),
    0n,
  );
}
