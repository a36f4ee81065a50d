// What the next write to an item does for those who wait for it, and which of them is refused. Pure.
//
// What is true of a counter after every write, whichever process stops in between:
//   1. balance + held + spent = what was put in, where held is the sum of the buckets. Each write moves an amount from
//      one term to another, so a crash between two writes loses nothing and creates nothing.
//   2. A hold is taken only where limit + balance covers it in the same instant: no number of takers at once can hold
//      and spend more than the limit. Only real costs go beyond it: above the amount held, or late.
//   3. A settlement takes its amount out of its bucket. Where the bucket no longer has it the owner is late: the amount
//      was given back, and the cost is charged without cover, because the provider was really paid.
//   4. A bucket that is over is given back once: the write compares it with the amount that it gives back.
import type { Item } from '../../storage/store/index.ts';
import {
  type Balance,
  type Counter,
  readAmount,
  readAvailable,
  readHeld,
  readTimed,
  type SeenItem,
} from './counter.ts';
import { UpdateDraft } from './update-draft.ts';
import { addCount, correctCount, readWindow, type Window, type WindowUse, waitMs } from './windows.ts';

/** What a request wants of an item: a hold, counts under a limit, or both or neither. */
export interface Demand {
  readonly hold?: { readonly bucket: string; readonly amount: bigint } | undefined;
  readonly balances?: readonly Balance[];
  readonly counts?: readonly Count[];
  /** Conditions and changes that go along with it. */
  readonly prepare?: (draft: UpdateDraft) => void;
}

interface Count {
  readonly window: Window;
  readonly amount: bigint;
  readonly limit: bigint;
}

export interface Refusal<Reason> {
  readonly reason: Reason;
  /** No newer copy of the item would change it. */
  readonly isFinal: boolean;
}

export interface Reservation<Reason> {
  readonly kind: 'reserve';
  /** By the item as it was seen; undefined: it is not known. 'look': it must be. */
  readonly assess: (seen: SeenItem | undefined, nowMs: number) => Demand | Refusal<Reason> | 'look';
}

export interface Settlement {
  readonly kind: 'settle';
  readonly counter: Counter;
  readonly bucket: string;
  readonly held: bigint;
  readonly actual: bigint;
  readonly prepare?: ((draft: UpdateDraft, item: Item) => void) | undefined;
}

/** Changes counts that were made at a moment, as far as they may still be changed. */
export interface Correction {
  readonly kind: 'correct';
  readonly countedAtMs: number;
  readonly changes: readonly { readonly window: Window; readonly change: bigint }[];
}

export type Request<Reason> = Reservation<Reason> | Settlement | Correction;

export type Answer<Reason> =
  /** `atMs`: the moment that its counts belong to. */
  | { readonly kind: 'reserved'; readonly item: Item; readonly atMs: number }
  | { readonly kind: 'limited'; readonly item: Item; readonly retryAfterMs: number }
  /** `available` counts what expired holds give back. */
  | { readonly kind: 'insufficient'; readonly item: Item; readonly available: bigint }
  | { readonly kind: 'refused'; readonly item: Item; readonly reason: Reason }
  /** `wasLate`: the hold had expired and was given back, so the cost was charged without cover. */
  | { readonly kind: 'settled'; readonly item: Item; readonly wasLate: boolean }
  /** There is nothing any more that could be settled or corrected. */
  | { readonly kind: 'gone' };

export interface Waiting<Reason> {
  readonly request: Request<Reason>;
  /** The item was asked for after the request came: what the item says may refuse it. */
  readonly isSeenAfter: boolean;
}

export interface WritePlan<Reason, Entry extends Waiting<Reason>> {
  readonly answered: readonly (readonly [Entry, Answer<Reason>])[];
  /** What is written for whom, and how each is answered when it is done. */
  readonly write:
    | {
        readonly draft: UpdateDraft;
        readonly entries: readonly Entry[];
        readonly answer: (entry: Entry, item: Item) => Answer<Reason>;
      }
    | undefined;
}

/**
 * Settlements and corrections always fit. Reservations go along in order of arrival, as far as they fit. One that does
 * not is refused only by an item that was asked for after it came, and by nothing else; it waits for the answer of this
 * write where it came later, then with all behind it, or where others of this write stand in its way. Neither answered
 * nor written: the item must be read first.
 */
export function planWrite<Reason, Entry extends Waiting<Reason>>(
  waiting: readonly Entry[],
  seen: SeenItem | undefined,
  nowMs: number,
): WritePlan<Reason, Entry> {
  const group = new Group(seen, nowMs);
  const answered: [Entry, Answer<Reason>][] = [];
  const entries: Entry[] = [];
  const late = new Set<Entry>();
  for (const entry of waiting) {
    const { request } = entry;
    if (request.kind === 'reserve') continue;
    const outcome = request.kind === 'correct' ? group.correct(request) : group.settle(request);
    if (outcome === 'late') late.add(entry);
    if (outcome === 'gone') answered.push([entry, { kind: 'gone' }]);
    else entries.push(entry);
  }
  const assessed = waiting.flatMap((entry) =>
    entry.request.kind === 'reserve' ? [{ entry, assessment: entry.request.assess(seen, nowMs) }] : [],
  );
  const counters = waiting.flatMap(({ request }) => (request.kind === 'settle' ? request.counter : []));
  const demands = assessed.flatMap(({ assessment }) => (isDemand(assessment) ? assessment : []));
  group.giveBackExpired([...counters, ...demands]);
  for (const { entry, assessment } of assessed) {
    const verdict = isDemand(assessment) ? group.judge(assessment, entries.length > 0) : assessment;
    if (verdict === 'fits') {
      entries.push(entry);
      continue;
    }
    if (verdict === 'wait') continue;
    if (verdict === 'look' || !(entry.isSeenAfter || ('isFinal' in verdict && verdict.isFinal))) break;
    const item = seen?.item ?? {};
    answered.push([entry, 'reason' in verdict ? { kind: 'refused', item, reason: verdict.reason } : verdict]);
  }
  if (entries.length === 0) return { answered, write: undefined };
  const answer = (entry: Entry, item: Item): Answer<Reason> =>
    entry.request.kind === 'reserve'
      ? { kind: 'reserved', item, atMs: nowMs }
      : { kind: 'settled', item, wasLate: late.has(entry) };
  return { answered, write: { draft: group.finish(), entries, answer } };
}

const isDemand = <Reason>(assessment: Demand | Refusal<Reason> | 'look'): assessment is Demand =>
  assessment !== 'look' && !('reason' in assessment);

type SettleOutcome = 'covered' | 'late' | 'gone';
/** 'wait': it would fit without the others of this write, which may not be written. 'look': the item is not known. */
type Verdict = 'fits' | 'wait' | 'look' | Extract<Answer<never>, { kind: 'reserved' | 'limited' | 'insufficient' }>;

/** One write in the making, and what is left while requests go into it one after the other. */
class Group {
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
  settle({ counter: { balances, spentAttribute }, bucket, held, actual, prepare }: Settlement): SettleOutcome {
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

  correct({ changes, countedAtMs }: Correction): SettleOutcome {
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
