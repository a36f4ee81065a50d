import { afterEach, beforeEach, describe, expect, it } from '#jest';
import type { ProviderCall } from '../../shared/accounting/provider-health/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { readerOf, recordAll, recorderOf, watchedStore, windowMs, windowStartMs } from './statistics-support.ts';

let tables: TestStore;
let clock: ManualClock;
beforeEach(async () => {
  tables = await startTestStore();
  clock = manualClock(windowStartMs);
});
afterEach(() => tables.stop());

const instance = () => ({ store: tables.store, clock });
const model = 'acme/large-1:2026@eu';
const ok = (latencyMs: number, provider = 'acme'): ProviderCall => ({ model, provider, latencyMs, outcome: 'ok' });
const ended = (outcome: ProviderCall['outcome'], provider = 'acme'): ProviderCall => ({ ...ok(50, provider), outcome });

describe('the figures of a provider', () => {
  it('are medians right to six percent, and whole milliseconds', async () => {
    const calls = Array.from({ length: 101 }, (_, at) => ({ ...ok(100 + at * 10), firstTokenMs: 10 + at }));
    await recordAll(instance(), calls);
    const figures = (await readerOf(instance()).current()).of(model, 'acme');
    expect(figures?.medianLatencyMs).toBeGreaterThan(600 * 0.94);
    expect(figures?.medianLatencyMs).toBeLessThan(600 * 1.06);
    expect(figures?.medianFirstTokenMs).toBeGreaterThan(60 * 0.93);
    expect(figures?.medianFirstTokenMs).toBeLessThan(60 * 1.07);
    expect([figures?.medianLatencyMs, figures?.medianFirstTokenMs].every(Number.isInteger)).toBe(true);
  });

  it('count the uptime from what succeeded and failed, not from rate limits or the caller’s mistakes', async () => {
    const calls = [ok(50), ok(50), ended('failed'), ended('rate_limited'), ended('invalid'), ended('invalid')];
    await recordAll(instance(), calls);
    const figures = (await readerOf(instance()).current()).of(model, 'acme');
    expect(String(figures?.uptime)).toBe('0.6666');
    // Two calls in 15 minutes.
    expect(String(figures?.throughputRpm)).toBe('0.13');
  });

  it('are none for a provider that only fails: it is never the fastest, but its model is down', async () => {
    await recordAll(instance(), [ended('failed'), ended('failed')]);
    const statistics = await readerOf(instance()).current();
    expect(statistics.of(model, 'acme')).toBeUndefined();
    expect(statistics.ofModel(model)).toMatchObject({ medianLatencyMs: undefined, throughputRpm: 0, uptime: 0 });
  });

  it('are none where nothing was recorded, or nothing that counts', async () => {
    await recordAll(instance(), [ended('rate_limited'), ended('invalid')]);
    const statistics = await readerOf(instance()).current();
    expect(statistics.of(model, 'acme')).toBeUndefined();
    expect(statistics.ofModel(model)).toBeUndefined();
    expect(statistics.ofModel('another')).toBeUndefined();
  });

  it('are summed over the providers of a model, and kept apart for each', async () => {
    await recordAll(instance(), [ok(100), ok(100), ok(100), ok(9_000, 'slow'), ended('failed', 'slow')]);
    const statistics = await readerOf(instance()).current();
    expect(statistics.of(model, 'acme')?.uptime).toBe(1);
    expect(statistics.of(model, 'slow')?.uptime).toBe(0.5);
    expect(statistics.of(model, 'slow')?.medianLatencyMs).toBeGreaterThan(8_000);
    expect(statistics.ofModel(model)?.uptime).toBe(0.8);
    expect(statistics.ofModel(model)?.medianLatencyMs).toBeLessThan(110);
  });

  it('come from the window that runs and the one before it, and from no earlier one', async () => {
    await recordAll(instance(), [ok(100)]);
    clock.advance(2 * windowMs - 1);
    expect(String((await readerOf(instance()).current()).of(model, 'acme')?.throughputRpm)).toBe('0.03');
    clock.advance(60_001);
    expect((await readerOf(instance()).current()).of(model, 'acme')).toBeUndefined();
  });
});

describe('recorders of several instances', () => {
  it('sum exactly, at one write per call', async () => {
    const watched = watchedStore(tables.store);
    const recorders = Array.from({ length: 5 }, () => recorderOf({ store: watched.store, clock }));
    await Promise.all(
      recorders.map(async (recorder) => {
        for (let calls = 0; calls < 60; calls += 1) {
          recorder.record(calls % 3 === 0 ? ended('failed') : { ...ok(200), firstTokenMs: 20 });
          await recorder.flush();
        }
      }),
    );
    expect(watched.count('update', 'COUNTERS#')).toBe(300);
    const figures = (await readerOf(instance()).current()).of(model, 'acme');
    // 200 of 300 succeeded, within 15 minutes.
    expect([figures?.throughputRpm, figures?.uptime]).toEqual([13.33, 0.6666]);
  });

  it('leave items that expire an hour after their window, with no id of a model or provider in them', async () => {
    await recordAll(instance(), [ok(100)]);
    const items = [];
    for await (const item of tables.store.scan('statistics')) items.push(item);
    expect(items).toHaveLength(1);
    expect(items[0]?.expires_at_epoch_seconds).toBe((windowStartMs + windowMs) / 1000 + 3_600);
    expect(JSON.stringify(items)).not.toContain('acme');
  });
});
