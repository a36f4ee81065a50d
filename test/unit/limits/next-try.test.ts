import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { nextTry } from '../../../shared/accounting/limits/index.ts';

describe('a limited call', () => {
  it('waits for its slot where that is within its queue time and its budget', () => {
    expect(nextTry(600, 0, 2_000, 55_000)).toBe(600);
    expect(nextTry(1_400, 600, 2_000, 55_000)).toBe(1_400);
  });

  it('does not wait for a slot that comes after its queue time', () => {
    expect(nextTry(2_001, 0, 2_000, 55_000)).toBeUndefined();
    expect(nextTry(1_401, 600, 2_000, 55_000)).toBeUndefined();
    expect(nextTry(1, 2_000, 2_000, 55_000)).toBeUndefined();
    expect(nextTry(1, 0, 0, 55_000)).toBeUndefined();
  });

  it('does not wait where nothing of its budget would be left', () => {
    expect(nextTry(600, 0, 2_000, 600)).toBeUndefined();
    expect(nextTry(600, 0, 2_000, 601)).toBe(600);
    expect(nextTry(1, 0, 2_000, 0)).toBeUndefined();
  });

  it('does not ask more often than every 50 ms, unless its queue time ends sooner', () => {
    expect(nextTry(3, 0, 2_000, 55_000)).toBe(50);
    expect(nextTry(3, 1_980, 2_000, 55_000)).toBe(20);
  });

  it('never waits less than the slot needs, never beyond queue or budget, and never not at all', () => {
    const ms = fc.nat(5_000);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), ms, ms, ms, (retryAfterMs, queuedMs, queueMs, remainingMs) => {
        const waitMs = nextTry(retryAfterMs, queuedMs, queueMs, remainingMs);
        if (waitMs === undefined) return;
        expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(queuedMs + waitMs).toBeLessThanOrEqual(queueMs);
        expect(waitMs).toBeLessThan(remainingMs);
      }),
    );
  });
});
