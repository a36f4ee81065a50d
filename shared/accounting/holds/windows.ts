// Counts limits per minute and per day: a window consists of about a dozen parts, each a count in an attribute of its
// own that is only added to, next to the total of all counts ever made. The current use is that total less the expired
// parts. Expired parts never change, and a writer whose copy of the item is old subtracts too little, never too much:
// so one comparison in the write, of the total with a maximum, is enough.
//
//        part     part      part                  A part counts until a window's length after its last call, so
//   |---·--·--|---------|--·--·---|               never more than the limit fall into any window's length.
//          last                last
import { dayMs } from '../../foundation/time/index.ts';
import { exists, type Item } from '../../storage/store/index.ts';
import { readAmount, readTimedAttributes, type SeenItem, type TimedKind, timedName } from './counter.ts';
import type { UpdateDraft } from './update-draft.ts';

export interface Window {
  readonly counts: TimedKind;
  readonly last: TimedKind;
  readonly totalAttribute: string;
  readonly lengthMs: number;
  readonly partMs: number;
  /**
   * Time after the beginning of a part in which its count may be corrected. Until this time is over, an older copy of
   * the count proves nothing.
   */
  readonly correctableMs: number;
}

const minuteMs = 60_000;
const minutePartMs = 5_000;

/** Window of requests. A request that was not made after all is removed within seconds. */
export const requestsPerMinute: Window = {
  counts: 'requests',
  last: 'lastInMinutePart',
  totalAttribute: 'requests_total',
  lengthMs: minuteMs,
  partMs: minutePartMs,
  correctableMs: 2 * minutePartMs,
};

/** Window of tokens, which are estimated first, and corrected when the call has ended. */
export const tokensPerMinute: Window = {
  counts: 'minuteTokens',
  last: 'lastInMinutePart',
  totalAttribute: 'minute_tokens_total',
  lengthMs: minuteMs,
  partMs: minutePartMs,
  correctableMs: minuteMs,
};

export const tokensPerDay: Window = {
  counts: 'dayTokens',
  last: 'lastInDayPart',
  totalAttribute: 'day_tokens_total',
  lengthMs: dayMs,
  partMs: dayMs / 12,
  correctableMs: dayMs,
};

/** Clocks differ by milliseconds. A part that begins further ahead was opened by a wrong clock and is not counted. */
const clockSkewMaxMs = 60_000;

export interface WindowUse {
  readonly total: bigint;
  /** Current use, by this copy of the item. */
  readonly used: bigint;
  /** Parts that count, sorted by their end. */
  readonly live: readonly { readonly count: bigint; readonly endsAtMs: number }[];
  /** Attributes that do not count any more. */
  readonly over: readonly string[];
}

/** Returns the current use, by an item that was just read. */
export const readWindowUse = (window: Window, item: Item, nowMs: number): bigint =>
  readWindow(window, { item, atMs: nowMs }, nowMs).used;

export function readWindow(window: Window, { item, atMs: seenAtMs }: SeenItem, nowMs: number): WindowUse {
  const lastNameOf = (startMs: number) => timedName(window.last, startMs / 1_000);
  const live: { readonly count: bigint; readonly endsAtMs: number }[] = [];
  const over: string[] = [];
  let used = 0n;
  for (const { name, atMs: startMs, value } of readTimedAttributes(item, window.counts)) {
    const lastName = lastNameOf(startMs);
    const lastMs = Number(item[lastName] ?? window.partMs - 1);
    const endsAtMs = startMs + lastMs + window.lengthMs;
    const isFinal = seenAtMs >= startMs + window.correctableMs;
    const isOver = (isFinal && nowMs >= endsAtMs) || startMs > nowMs + clockSkewMaxMs;
    if (isOver) {
      over.push(name, lastName);
      continue;
    }
    const count = readAmount(value);
    used += count;
    live.push({ count, endsAtMs });
  }
  return { total: readAmount(item[window.totalAttribute]), used, live: live.sort(byEnd), over };
}

const byEnd = (a: { readonly endsAtMs: number }, b: { readonly endsAtMs: number }): number => a.endsAtMs - b.endsAtMs;

/**
 * Returns the milliseconds until `amount` fits under `limit` if nothing else is counted; at most the length of the
 * window.
 */
export function waitMs(
  window: Window,
  { used, live }: Pick<WindowUse, 'used' | 'live'>,
  amount: bigint,
  limit: bigint,
  nowMs: number,
): number {
  let use = used + amount;
  for (const { count, endsAtMs } of live) {
    use -= count;
    if (use <= limit) return Math.max(1, endsAtMs - nowMs);
  }
  return window.lengthMs;
}

const partStartMs = ({ partMs }: Window, nowMs: number): number => Math.floor(nowMs / partMs) * partMs;

export function addCount(draft: UpdateDraft, window: Window, amount: bigint, nowMs: number): void {
  const startMs = partStartMs(window, nowMs);
  draft.add(timedName(window.counts, startMs / 1_000), amount);
  draft.add(window.totalAttribute, amount);
  draft.set(timedName(window.last, startMs / 1_000), nowMs - startMs);
}

/** Corrects the count of a moment. Returns false, and does nothing, when that part may not be corrected any more. */
export function correctCount(
  draft: UpdateDraft,
  window: Window,
  change: bigint,
  countedAtMs: number,
  nowMs: number,
  seen: Item | undefined,
): boolean {
  const startMs = partStartMs(window, countedAtMs);
  const part = timedName(window.counts, startMs / 1_000);
  // An item that was deleted or cleaned since it was counted has no such part.
  if (change === 0n || nowMs >= startMs + window.correctableMs || (seen && seen[part] === undefined)) return false;
  draft.add(part, change);
  draft.add(window.totalAttribute, change);
  draft.require(exists(part));
  return true;
}
