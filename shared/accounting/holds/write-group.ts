// One write in preparation, and the capacity that remains as requests join it in turn.

import { exists, type Item } from '../../storage/store/index.ts';
import { BalanceChange } from './balance-change.ts';
import { amountAtMost, readTimed, type SeenItem, slotBalance } from './counter.ts';
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
/** 'wait': it would fit without the others of this write, which may not be written. 'look': the item is not known. */
type Verdict = 'fits' | 'wait' | 'look' | CounterReserved | Limited | Insufficient;

type Spending = Pick<UnreservedCharge, 'counter' | 'amount' | 'prepare'>;

const slotBalances = [slotBalance(null)];
const slotAttributes: ReadonlySet<string> = new Set(slotBalances.map(({ attribute }) => attribute));

export class WriteGroup {
  readonly #draft = new UpdateDraft();
  readonly #seen: SeenItem | undefined;
  readonly #nowMs: number;
  readonly #amounts: BalanceChange;
  readonly #slots: BalanceChange;
  readonly #windows = new Map<Window, WindowUse & { counted: bigint; totalMax: bigint | undefined }>();

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

  /** Slots are released with every write, amounts with one that knows their balances. */
  releaseExpired(wanted: readonly Pick<Demand, 'balances' | 'hold' | 'slot'>[]): void {
    if (this.#seen === undefined) return;
    const draft = this.#draft;
    for (const kind of ['evenMarks', 'oddMarks'] as const) {
      for (const { name, atMs } of readTimed(this.#seen.item, kind)) if (atMs <= this.#nowMs) draft.remove(name);
    }
    const attributes = new Set(wanted.flatMap(({ balances = [] }) => balances.map(({ attribute }) => attribute)));
    this.#amounts.releaseExpired(
      attributes,
      wanted.map(({ hold }) => hold?.bucket),
    );
    this.#slots.releaseExpired(
      slotAttributes,
      wanted.map(({ slot }) => slot?.bucket),
    );
  }

  /** `isWriting`: others write in any case. */
  judge(demand: Demand, isWriting: boolean): Verdict {
    const { hold, balances = [], slot, counts = [] } = demand;
    const takesNothing =
      hold === undefined && slot === undefined && counts.every(({ isCounted }) => isCounted === false);
    const wantsNoWrite = takesNothing && !isWriting && !this.#amounts.releases && !this.#slots.releases;
    if ((wantsNoWrite || counts.length > 0) && this.#seen === undefined) return 'look';
    const item = this.#seen?.item ?? {};
    const retryAfterMs = counts.reduce((longest, count) => Math.max(longest, this.#waitOf(count)), 0);
    if (retryAfterMs > 0) return { kind: 'limited', item, retryAfterMs };
    if (wantsNoWrite) return { kind: 'reserved', item, atMs: this.#nowMs };
    const amounts = hold && { fund: this.#amounts, balances, taken: hold, short: 'amount' as const };
    const slots = slot && {
      fund: this.#slots,
      balances: [slotBalance(slot.limit)],
      taken: { bucket: slot.bucket, amount: 1n },
      short: 'slots' as const,
    };
    // Their order is the precedence of their refusals.
    const takes = [amounts, slots].filter((take) => take !== undefined);
    let fits = true;
    for (const { fund, balances: limited, taken, short } of takes) {
      const available = fund.available(limited);
      if (available === null) continue;
      if (available.now < taken.amount) return { kind: 'insufficient', item, short, available: available.now };
      fits &&= available.here >= taken.amount;
    }
    if (!fits || counts.some(({ window, amount, limit }) => this.#usedOf(window) + amount > limit)) return 'wait';
    for (const { fund, balances: limited, taken } of takes) fund.take(limited, taken);
    this.#count(counts.filter(({ isCounted }) => isCounted !== false));
    demand.prepare?.(this.#draft);
    return 'fits';
  }

  /** By the item alone. */
  #waitOf({ window, amount, limit }: Count): number {
    const use = this.#useOf(window);
    if (use === undefined || use.used + amount <= limit) return 0;
    return waitMs(window, use, amount, limit, this.#nowMs);
  }

  /** Includes those of this write. */
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

  #count(counts: readonly Count[]): void {
    for (const { window, amount, limit } of counts) {
      const use = this.#useOf(window);
      if (use === undefined) continue;
      use.counted += amount;
      const totalMax = limit + use.total - use.used - use.counted;
      use.totalMax = use.totalMax === undefined || totalMax < use.totalMax ? totalMax : use.totalMax;
      addCount(this.#draft, window, amount, this.#nowMs);
    }
  }

  finish(): DraftedWrite {
    const draft = this.#draft;
    this.#amounts.finish();
    this.#slots.finish();
    // Conditions cannot add, so a total is compared with its maximum.
    for (const [{ totalAttribute }, { totalMax, over }] of this.#windows) {
      for (const attribute of over) draft.remove(attribute);
      if (totalMax === undefined) continue;
      draft.require(amountAtMost(totalAttribute, totalMax));
    }
    return draft.finish();
  }
}
