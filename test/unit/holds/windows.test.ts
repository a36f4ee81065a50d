// The rules of the windows, on a plain item that takes what a plan writes. The same on the real engine, with many
// writers, is in test/stores.

import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { requestsPerMinute } from '../../../shared/accounting/holds/index.ts';
import { planWrite } from '../../../shared/accounting/holds/plan-write.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import { applyUpdate } from './apply-update.ts';

const startMs = 1_800_000_000_000;

/** One request of a caller that sees the item as it stands. */
function request(item: Item, limit: number, nowMs: number): { item: Item; retryAfterMs: number | undefined } {
  const demand = { counts: [{ window: requestsPerMinute, amount: 1n, limit: BigInt(limit) }] };
  const reservation = { assess: () => demand, isSeenAfter: true };
  const { answered, write } = planWrite([reservation], [], { item, atMs: nowMs }, nowMs);
  const answer = answered[0]?.[1];
  if (answer?.kind === 'limited') return { item, retryAfterMs: answer.retryAfterMs };
  const update = write?.draft.toUpdate('limits', 'unit', { repeatable: true });
  if (update === undefined) throw new Error('neither written nor refused');
  return { item: applyUpdate(item, update), retryAfterMs: undefined };
}

describe('the window of a limit', () => {
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
      { numRuns: 40 },
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
      { numRuns: 40 },
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

  it('refuses no caller that keeps to an even pace of twelve thirteenths of the limit', () => {
    let item: Item = {};
    for (let sent = 0; sent < 300; sent += 1) {
      const result = request(item, 52, startMs + sent * 1_250);
      expect(result.retryAfterMs).toBeUndefined();
      item = result.item;
    }
  });

  it('is about a dozen numbers at any rate, and forgets what is over', () => {
    let item: Item = {};
    for (let second = 0; second < 200; second += 1) item = request(item, 100_000, startMs + second * 1_000).item;
    const parts = Object.keys(item).filter((name) => name.startsWith('R'));
    expect(parts.length).toBeLessThanOrEqual(14);
    expect(item.requests_total).toBe(200n);
    item = request(item, 100_000, startMs + 400_000).item;
    expect(Object.keys(item).filter((name) => /^[RL]/.test(name))).toHaveLength(2);
  });

  it('counts with an instance whose clock is a little ahead, and does not wait for a clock that jumped', () => {
    const { item } = request({}, 3, startMs + 7_000);
    const full = request(request(item, 3, startMs).item, 3, startMs).item;
    expect(request(full, 3, startMs).retryAfterMs).toBe(60_000);
    const jumped = request({}, 3, startMs + 86_400_000).item;
    expect(request(jumped, 1, startMs).retryAfterMs).toBeUndefined();
  });
});
