// One write in the making, and what is left while requests go into it one after the other.
import { type Balance, readAmount, readAvailable, readHeld, readTimed, type SeenItem } from './counter.ts';
import type { Correction, Count, Demand, Insufficient, Limited, Reserved, Settlement } from './requests.ts';
import { UpdateDraft } from './update-draft.ts';
import { addCount, correctCount, readWindow, type Window, type WindowUse, waitMs } from './windows.ts';

type Coverage = 'covered' | 'late' | 'gone';
/** 'wait': it would fit without the others of this write, which may not be written. 'look': the item is not known. */
type Verdict = 'fits' | 'wait' | 'look' | Reserved | Limited | Insufficient;

export class WriteGroup {
  readonly #draft = new UpdateDraft();
  readonly #seen: SeenItem | undefined;
  readonly #nowMs: number;
  /** What settlements and expired holds return, and what new holds take. All balances of an item move alike. */
  #returned = 0n;
  #taken = 0n;
  #givesBack = false;
  readonly #outOfBuckets = new Map<string, bigint>();
  readonly #floors = new Map<string, bigint>();
  readonly #windows = new Map<Window, WindowUse & { counted: bigint; totalMax: bigint | undefined }>();

  constructor(seen: SeenItem | undefined, nowMs: number) {
    this.#seen = seen;
    this.#nowMs = nowMs;
  }

  /** By what the item said after the hold was taken; unknown: the bucket is expected to have it. */
  settle({ counter: { balances, spentAttribute }, bucket, held, actual, prepare }: Settlement): Coverage {
    const draft = this.#draft;
    const item = this.#seen?.item;
    if (item !== undefined && balances.some(({ attribute }) => item[attribute] === undefined)) return 'gone';
    const takenOut = this.#outOfBuckets.get(bucket) ?? 0n;
    const isLate = item !== undefined && readAmount(item[bucket]) < takenOut + held;
    const returned = isLate ? -actual : held - actual;
    if (isLate) {
      for (const { attribute } of balances) draft.require(`attribute_exists(${draft.name(attribute)})`);
    } else {
      this.#outOfBuckets.set(bucket, takenOut + held);
      draft.add(bucket, -held);
    }
    for (const { attribute } of balances) draft.add(attribute, returned);
    if (spentAttribute !== undefined) draft.add(spentAttribute, actual);
    prepare?.(draft, item ?? {});
    this.#returned += returned;
    return isLate ? 'late' : 'covered';
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

  /** What was over when the item was seen; what others may still have changed since then waits for a newer copy. */
  giveBackExpired(wanted: readonly Pick<Demand, 'balances' | 'hold'>[]): void {
    if (this.#seen === undefined) return;
    const draft = this.#draft;
    const { item, atMs: seenAtMs } = this.#seen;
    for (const kind of ['evenMarks', 'oddMarks'] as const) {
      for (const { name, atMs } of readTimed(item, kind)) if (atMs <= this.#nowMs) draft.remove(name);
    }
    const balances = new Set(wanted.flatMap(({ balances = [] }) => balances.map(({ attribute }) => attribute)));
    const inUse = new Set([...this.#outOfBuckets.keys(), ...wanted.map(({ hold }) => hold?.bucket)]);
    for (const { name, atMs, value } of readTimed(item, 'held')) {
      const amount = readAmount(value);
      if (atMs > seenAtMs || inUse.has(name) || (amount !== 0n && balances.size === 0)) continue;
      draft.remove(name);
      const [bucket, expected] = [draft.name(name), draft.value(amount)];
      draft.require(`${amount === 0n ? `attribute_not_exists(${bucket}) OR ` : ''}${bucket} = ${expected}`);
      for (const attribute of balances) draft.add(attribute, amount);
      this.#returned += amount;
      this.#givesBack ||= amount !== 0n;
    }
  }

  /** `isWriting`: others write in any case. */
  judge(demand: Demand, isWriting: boolean): Verdict {
    const { hold, balances = [], counts = [] } = demand;
    if (hold === undefined && counts.length === 0 && !isWriting && !this.#givesBack) {
      // It wants no write, only a look.
      return this.#seen === undefined ? 'look' : { kind: 'reserved', item: this.#seen.item, atMs: this.#nowMs };
    }
    if (counts.length > 0 && this.#seen === undefined) return 'look';
    const item = this.#seen?.item ?? {};
    const waits = counts.map((count) => this.#waitOf(count));
    if (waits.some((wait) => wait > 0)) return { kind: 'limited', item, retryAfterMs: Math.max(...waits) };
    const available = this.#seen && hold && this.#availableOf(balances, this.#seen);
    if (available != null && available.now < (hold?.amount ?? 0n)) {
      return { kind: 'insufficient', item, available: available.now };
    }
    const fits = (available?.here ?? hold?.amount ?? 0n) >= (hold?.amount ?? 0n);
    if (!fits || counts.some(({ window, amount, limit }) => this.#usedOf(window) + amount > limit)) return 'wait';
    this.#add(demand);
    return 'fits';
  }

  /** By the item alone. */
  #waitOf({ window, amount, limit }: Count): number {
    const use = this.#useOf(window);
    if (use === undefined || use.used + amount <= limit) return 0;
    return waitMs(window, use, amount, limit, this.#nowMs);
  }

  /** With those of this write. */
  #usedOf(window: Window): bigint {
    const use = this.#useOf(window);
    return use === undefined ? 0n : use.used + use.counted;
  }

  #useOf(window: Window) {
    if (this.#seen === undefined) return undefined;
    const known = this.#windows.get(window);
    const use = known ?? { ...readWindow(window, this.#seen, this.#nowMs), counted: 0n, totalMax: undefined };
    this.#windows.set(window, use);
    return use;
  }

  /** By the item, what has expired included, and after those of this write. Null: nothing limits it. */
  #availableOf(balances: readonly Balance[], { item, atMs: seenAtMs }: SeenItem) {
    const left = readAvailable(balances, item);
    if (left === null) return null;
    const expired = readHeld(item).filter(({ expiresAtMs }) => expiresAtMs <= seenAtMs);
    const now = expired.reduce((sum, { amount }) => sum + amount, left);
    return { now, here: left + this.#returned - this.#taken };
  }

  #add({ hold, balances = [], counts = [], prepare }: Demand): void {
    const draft = this.#draft;
    if (hold !== undefined) {
      this.#taken += hold.amount;
      draft.add(hold.bucket, hold.amount);
      for (const { attribute, limit } of balances) {
        draft.add(attribute, -hold.amount);
        if (limit === null) continue;
        const floor = this.#taken - this.#returned - limit;
        const known = this.#floors.get(attribute);
        this.#floors.set(attribute, known === undefined || floor > known ? floor : known);
      }
    }
    for (const { window, amount, limit } of counts) {
      const use = this.#useOf(window);
      if (use === undefined) continue;
      use.counted += amount;
      const totalMax = limit + use.total - use.used - use.counted;
      use.totalMax = use.totalMax === undefined || totalMax < use.totalMax ? totalMax : use.totalMax;
      addCount(draft, window, amount, this.#nowMs);
    }
    prepare?.(draft);
  }

  finish(): UpdateDraft {
    const draft = this.#draft;
    for (const [bucket, amount] of this.#outOfBuckets) draft.require(`${draft.name(bucket)} >= ${draft.value(amount)}`);
    // Conditions cannot add, so a number is compared with what it must be at least, or at most. An absent one is 0.
    for (const [attribute, floor] of this.#floors) {
      const name = draft.name(attribute);
      draft.require(`${floor > 0n ? '' : `attribute_not_exists(${name}) OR `}${name} >= ${draft.value(floor)}`);
    }
    for (const [{ totalAttribute }, { totalMax, over }] of this.#windows) {
      for (const attribute of over) draft.remove(attribute);
      if (totalMax === undefined) continue;
      const name = draft.name(totalAttribute);
      draft.require(`${totalMax < 0n ? '' : `attribute_not_exists(${name}) OR `}${name} <= ${draft.value(totalMax)}`);
    }
    return draft;
  }
}
