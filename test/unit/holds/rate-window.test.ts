// The rules of the window, on a model of the one write that carries them: it applies the values of the parts where
// their conditions hold. The same rules on the real engine are in test/stores/holds-key-admission.test.ts.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { planCount } from '../../../shared/accounting/holds/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';

const startMs = 1_800_000_000_000;

/** One request of a caller that sees the item as it stands. */
function request(item: Item, limit: number, nowMs: number): { item: Item; retryAfterMs: number | undefined } {
  const plan = planCount('rpm', limit, item, nowMs);
  if (plan.kind === 'full') return { item, retryAfterMs: plan.retryAfterMs };
  const { values = {} } = plan.parts;
  const version = Number(item.rate_version ?? 0) + 1;
  if (values[':counts'] !== undefined) {
    const [rate_counts, rate_offsets_ms] = [values[':counts'], values[':offsetsMs']];
    const replaced = { rate_second: values[':second'], rate_counts, rate_offsets_ms, rate_sum: values[':sum'] };
    return { item: { ...replaced, rate_version: version }, retryAfterMs: undefined };
  }
  const [newest = 0, ...older] = item.rate_counts as number[];
  const [newestOffset, ...olderOffsets] = item.rate_offsets_ms as number[];
  const added = {
    ...item,
    rate_counts: [newest + 1, ...older],
    rate_offsets_ms: [values[':offsetMs'] ?? newestOffset, ...olderOffsets],
    rate_sum: Number(item.rate_sum) + 1,
    rate_version: version,
  };
  return { item: added, retryAfterMs: undefined };
}

describe('the window of a key', () => {
  it('never lets more than the limit into any 60 seconds, wherever they begin', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 50, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), gaps, (limit, gapsMs) => {
        let [item, nowMs]: [Item, number] = [{}, startMs];
        const admittedAtMs: number[] = [];
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const result = request(item, limit, nowMs);
          item = result.item;
          if (result.retryAfterMs === undefined) admittedAtMs.push(nowMs);
        }
        for (const fromMs of admittedAtMs) {
          const inWindow = admittedAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000);
          expect(inWindow.length).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('names the first moment at which a request fits: a millisecond earlier it does not', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 15 }), gaps, (limit, gapsMs) => {
        let [item, nowMs]: [Item, number] = [{}, startMs];
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const { item: after, retryAfterMs } = request(item, limit, nowMs);
          item = after;
          if (retryAfterMs === undefined) continue;
          expect(retryAfterMs).toBeGreaterThan(0);
          expect(retryAfterMs).toBeLessThanOrEqual(60_000);
          expect(request(item, limit, nowMs + retryAfterMs - 1).retryAfterMs).toBe(1);
          expect(request(item, limit, nowMs + retryAfterMs).retryAfterMs).toBeUndefined();
        }
      }),
      { numRuns: 200 },
    );
  });

  it('lets a burst of the whole limit through at once, and again when a minute has passed', () => {
    let item: Item = {};
    const burst = (nowMs: number) =>
      Array.from({ length: 5 }, () => {
        const result = request(item, 3, nowMs);
        item = result.item;
        return result.retryAfterMs;
      });
    expect(burst(startMs + 700)).toEqual([undefined, undefined, undefined, 60_000, 60_000]);
    expect(burst(startMs + 60_699)).toEqual([1, 1, 1, 1, 1]);
    expect(burst(startMs + 60_700)).toEqual([undefined, undefined, undefined, 60_000, 60_000]);
  });

  it('refuses nobody who keeps to an even pace of exactly the limit', () => {
    let item: Item = {};
    for (let sent = 0; sent < 300; sent += 1) {
      const result = request(item, 50, startMs + sent * 1_200);
      expect(result.retryAfterMs).toBeUndefined();
      item = result.item;
    }
  });

  it('stays below a kilobyte at any rate', () => {
    let item: Item = {};
    for (let second = 0; second < 200; second += 1) item = request(item, 100_000, startMs + second * 1_000).item;
    expect(item.rate_counts).toHaveLength(60);
    expect(item.rate_sum).toBe(60);
  });

  it('counts with a colleague whose clock is a little ahead, and does not wait for a clock that jumped', () => {
    const second = startMs / 1_000;
    const window = { rate_counts: [2], rate_offsets_ms: [500], rate_sum: 2, rate_version: 7 };
    const ahead = { ...window, rate_second: second + 2 };
    expect(request(ahead, 3, startMs).item).toMatchObject({
      rate_second: second + 2,
      rate_sum: 3,
      rate_offsets_ms: [500],
    });
    expect(request(ahead, 2, startMs).retryAfterMs).toBe(62_500);
    const jumped = { ...window, rate_second: second + 86_400 };
    expect(request(jumped, 2, startMs).item).toMatchObject({ rate_second: second, rate_sum: 1, rate_version: 8 });
  });
});
