// Requests per minute inside an item, as part of the write that does the rest of an admission. Requests are counted by
// the second, and those of a second stop counting 60 seconds after its last one: never do more than the limit fall into
// any 60 seconds, no window has an edge to burst over, and no wait is longer than a minute. Within a second a write adds to
// what stands there and is compared with the limit in the same item, whatever others add at that time; only a write
// that opens a second, or drops an old one, has to know the others, and then all must stand as they were seen.
import type { Item } from '../../storage/store/index.ts';
import type { WriteParts } from './write-parts.ts';

const windowMs = 60_000;
const msPerSecond = 1_000;
/** The current one, and 60 that may still count in part. */
const secondsKept = 61;

/** Attributes `rate_…`. Lists begin with the newest second and go back second by second. */
interface RateWindow {
  /** The newest second with a request, since the epoch. */
  readonly second: number;
  readonly counts: readonly number[];
  /** When the last request of each second came: milliseconds into it. */
  readonly offsetsMs: readonly number[];
  readonly sum: number;
}

export type CountPlan =
  | { readonly kind: 'count'; readonly parts: WriteParts }
  /** No request fits before that, by what was seen. At most a minute. */
  | { readonly kind: 'full'; readonly retryAfterMs: number };

/**
 * How to count one request in `seen`, {} where there is no item yet. What was seen may be old: then the write is
 * refused, or the window was at least as full. Counted twice when its answer is lost and it is sent again, which errs
 * to the side of the limit.
 */
export function planCount(limitAttribute: string, limit: number, seen: Item, nowMs: number): CountPlan {
  const stored = readWindow(seen, nowMs);
  const names = { '#rateLimit': limitAttribute };
  if (stored !== undefined && stored.second >= secondOf(nowMs) && stored.sum < limit) {
    return { kind: 'count', parts: { ...addParts(stored, nowMs), names } };
  }
  const window = slide(stored, nowMs);
  if (window.sum >= limit) return { kind: 'full', retryAfterMs: waitMs(window, limit, nowMs) };
  return { kind: 'count', parts: { ...replaceParts(seen, window, nowMs), names } };
}

const secondOf = (ms: number): number => Math.floor(ms / msPerSecond);

function addParts({ second }: RateWindow, nowMs: number): WriteParts {
  // A second that a colleague's clock has opened early keeps its own offset.
  const isOurs = second === secondOf(nowMs);
  return {
    set: [
      'rate_counts[0] = rate_counts[0] + :oneRequest',
      'rate_sum = rate_sum + :oneRequest',
      'rate_version = rate_version + :oneRequest',
      ...(isOurs ? ['rate_offsets_ms[0] = :offsetMs'] : []),
    ],
    conditions: ['rate_second = :second AND rate_sum < #rateLimit'],
    values: { ':oneRequest': 1, ':second': second, ...(isOurs ? { ':offsetMs': nowMs % msPerSecond } : {}) },
  };
}

/** `rate_version` is raised by every write, so that of two writers that saw the same window one replaces it. */
function replaceParts(seen: Item, { second, counts, offsetsMs, sum }: RateWindow, nowMs: number): WriteParts {
  const [newest = 0, ...older] = counts;
  const [newestOffsetMs = 0, ...olderOffsetsMs] = offsetsMs;
  const isFirst = seen.rate_version === undefined;
  return {
    set: [
      'rate_second = :second',
      'rate_counts = :counts',
      'rate_offsets_ms = :offsetsMs',
      'rate_sum = :sum',
      'rate_version = :version',
    ],
    conditions: [isFirst ? 'attribute_not_exists(rate_version)' : 'rate_version = :versionSeen', '#rateLimit >= :sum'],
    values: {
      ':second': second,
      ':counts': [newest + 1, ...older],
      ':offsetsMs': [second === secondOf(nowMs) ? nowMs % msPerSecond : newestOffsetMs, ...olderOffsetsMs],
      ':sum': sum + 1,
      ':version': Number(seen.rate_version ?? 0) + 1,
      ...(isFirst ? {} : { ':versionSeen': seen.rate_version }),
    },
  };
}

/**
 * Undefined for a window of the far future too: a clock that had jumped wrote it, and waiting for it could refuse a key
 * for hours. One of the near future is that of a colleague whose clock is a little ahead.
 */
function readWindow(item: Item, nowMs: number): RateWindow | undefined {
  if (item.rate_second === undefined || Number(item.rate_second) >= secondOf(nowMs) + secondsKept) return undefined;
  return {
    second: Number(item.rate_second),
    counts: item.rate_counts as number[],
    offsetsMs: item.rate_offsets_ms as number[],
    sum: Number(item.rate_sum),
  };
}

/** The window as it is at `nowMs`: moved on to the current second, and without what no longer counts. */
function slide(stored: RateWindow | undefined, nowMs: number): RateWindow {
  const second = Math.max(secondOf(nowMs), stored?.second ?? 0);
  const passed = Math.min(stored === undefined ? secondsKept : second - stored.second, secondsKept);
  const empty = new Array<number>(passed).fill(0);
  const moved = {
    second,
    counts: [...empty, ...(stored?.counts ?? [])],
    offsetsMs: [...empty, ...(stored?.offsetsMs ?? [])],
  };
  const oldest = moved.counts.findLastIndex((count, age) => count > 0 && endMs(moved, age) > nowMs);
  const counts = moved.counts.slice(0, Math.max(oldest + 1, 1));
  return {
    second,
    counts,
    offsetsMs: moved.offsetsMs.slice(0, counts.length),
    sum: counts.reduce((sum, count) => sum + count, 0),
  };
}

/** When the requests of the second that lies `age` seconds back stop counting. */
const endMs = ({ second, offsetsMs }: Pick<RateWindow, 'second' | 'offsetsMs'>, age: number): number =>
  (second - age) * msPerSecond + (offsetsMs[age] ?? 0) + windowMs;

/** Until enough of the oldest stop counting. */
function waitMs(window: RateWindow, limit: number, nowMs: number): number {
  let left = window.sum;
  let age = window.counts.length;
  while (left >= limit && age > 0) {
    age -= 1;
    left -= window.counts[age] ?? 0;
  }
  return endMs(window, age) - nowMs;
}
