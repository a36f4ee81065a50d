import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  dayMs,
  leftOfWindowMs,
  minuteMs,
  previousMax,
  type WindowCount,
  waitUntilFitsMs,
  weightOf,
} from '../../../shared/accounting/limits/window.ts';

const windows = fc.constantFrom(minuteMs, dayMs);
/** Up to what a day of the largest providers holds, and beyond. */
const counts = fc.oneof(fc.nat(20), fc.nat(1_000_000), fc.maxSafeNat());

/** What counts `passedMs` later if nothing is taken meanwhile. */
function usedAfter({ current, previous }: WindowCount, leftMs: number, windowMs: number, passedMs: number): number {
  if (passedMs < leftMs) return current + weightOf(previous, leftMs - passedMs, windowMs);
  if (passedMs < leftMs + windowMs) return weightOf(current, leftMs + windowMs - passedMs, windowMs);
  return 0;
}

const situations = fc
  .record({
    windowMs: windows,
    current: fc.nat(1e12),
    previous: fc.nat(1e12),
    limit: fc.integer({ min: 1, max: 1e12 }),
  })
  .chain((counted) =>
    fc.record({
      counted: fc.constant(counted),
      leftMs: fc.integer({ min: 1, max: counted.windowMs }),
      need: fc.integer({ min: 1, max: counted.limit }),
    }),
  );

describe('the weight of the previous window', () => {
  it('is all of it when the window opens, and nothing is lost to rounding in favour of a caller', () => {
    fc.assert(
      fc.property(windows, counts, (windowMs, previous) => {
        expect(weightOf(previous, windowMs, windowMs)).toBe(previous);
      }),
    );
    expect(weightOf(10, 59_999, minuteMs)).toBe(10);
    expect(weightOf(10, 30_000, minuteMs)).toBe(5);
    expect(weightOf(1, 1, minuteMs)).toBe(1);
    // 9,007,199,254,740,991 × 86,399,999 / 86,400,000 rounded up; a product of floats would be off.
    expect(weightOf(Number.MAX_SAFE_INTEGER, dayMs - 1, dayMs)).toBe(9_007_199_150_491_000);
  });

  it('has an exact inverse: the most that may stand there, and not one more', () => {
    fc.assert(
      fc.property(
        windows.chain((windowMs) => fc.tuple(fc.constant(windowMs), fc.integer({ min: 1, max: windowMs }))),
        fc.nat(1e9),
        ([windowMs, leftMs], room) => {
          const most = previousMax(room, leftMs, windowMs);
          expect(weightOf(most, leftMs, windowMs)).toBeLessThanOrEqual(room);
          if (most < Number.MAX_SAFE_INTEGER) expect(weightOf(most + 1, leftMs, windowMs)).toBeGreaterThan(room);
        },
      ),
    );
    expect(previousMax(-1, 1, minuteMs)).toBe(-1);
  });
});

describe('what counts against a limit', () => {
  it('never rises while nothing is taken, not even over the boundary of a window', () => {
    fc.assert(
      fc.property(situations, fc.nat(2 * dayMs), fc.nat(2 * dayMs), ({ counted, leftMs }, one, other) => {
        const [sooner, later] = [Math.min(one, other), Math.max(one, other)];
        const used = (passedMs: number) => usedAfter(counted, leftMs, counted.windowMs, passedMs);
        expect(used(later)).toBeLessThanOrEqual(used(sooner));
        expect(used(leftMs)).toBeLessThanOrEqual(used(leftMs - 1));
      }),
    );
  });

  it('leaves room exactly when the wait is over, and not a millisecond sooner', () => {
    fc.assert(
      fc.property(situations, ({ counted, leftMs, need }) => {
        const { limit, windowMs } = counted;
        const waitMs = waitUntilFitsMs(counted, need, limit, leftMs, windowMs);
        const fitsAfter = (passedMs: number) => usedAfter(counted, leftMs, windowMs, passedMs) + need <= limit;
        expect(fitsAfter(waitMs)).toBe(true);
        if (waitMs > 0) expect(fitsAfter(waitMs - 1)).toBe(false);
        expect(waitMs).toBeLessThanOrEqual(leftMs + windowMs);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is told from the moment within its window', () => {
    expect(leftOfWindowMs(120_000, minuteMs)).toBe(60_000);
    expect(leftOfWindowMs(179_999, minuteMs)).toBe(1);
  });
});
