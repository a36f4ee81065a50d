import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
import {
  type ObservedCall,
  readerOf,
  recordAll,
  watchedStore,
  windowMs,
  windowStartMs,
  withRealTimers,
} from './statistics-support.ts';

let tables: TestStore;
let clock: ManualClock;
beforeEach(async () => {
  tables = await startTestStore();
  clock = manualClock(windowStartMs);
});
afterEach(() => tables.stop());

const instance = () => ({ store: tables.store, clock });
const model = 'acme/large-1:2026@eu';
const ok = (latencyMs: number, provider = 'acme'): ObservedCall => ({ model, provider, latencyMs, outcome: 'ok' });

describe('recorders of several instances', () => {
  it('leave items that expire an hour after their window, with no id of a model or provider in them', async () => {
    await recordAll(instance(), [ok(100)]);
    const items = [];
    for await (const item of tables.store.scan('statistics')) items.push(item);
    expect(items).toHaveLength(1);
    expect(items[0]?.expires_at_epoch_seconds).toBe((windowStartMs + windowMs) / 1000 + 3_600);
    expect(JSON.stringify(items)).not.toContain('acme');
  });
});

const call: ObservedCall = { model: 'm', provider: 'p', latencyMs: 100, outcome: 'ok' };
const readsPerRebuild = 128;

describe('the snapshot', () => {
  it('is built by exactly one of ten instances that start together, and all ten serve it', async () => {
    await recordAll({ store: tables.store, clock }, [call]);
    const watched = watchedStore(tables.store);
    const readers = Array.from({ length: 10 }, () => readerOf({ store: watched.store, clock: withRealTimers(clock) }));
    await Promise.all(readers.map((reader) => reader.current()));
    await Promise.all(readers.map((reader) => reader.settled()));
    const snapshots = await Promise.all(readers.map((reader) => reader.current()));
    expect(watched.count('get', 'COUNTERS#')).toBe(readsPerRebuild);
    expect(watched.count('put', 'SNAPSHOT#')).toBe(1);
    expect(snapshots.map((statistics) => statistics.measuredFigures('m', 'p')?.uptime)).toEqual(Array(10).fill(1));
  });

  it('costs an instance no call while it is fresh, however many requests ask', async () => {
    const watched = watchedStore(tables.store);
    const reader = readerOf({ store: watched.store, clock });
    await Promise.all(Array.from({ length: 20 }, () => reader.current()));
    expect(watched.count('get', 'SNAPSHOT#')).toBe(1);
    clock.advance(29_999);
    await reader.current();
    expect(watched.count('get', '')).toBe(1 + readsPerRebuild);
  });

  it('is served at once between 30 and 60 seconds of age, and rebuilt meanwhile', async () => {
    const held = Promise.withResolvers<void>();
    let isHeld = false;
    const slow = { ...tables.store };
    slow.get = async (...args) => {
      if (isHeld) await held.promise;
      return tables.store.get(...args);
    };
    const reader = readerOf({ store: slow, clock });
    const first = await reader.current();
    await recordAll({ store: tables.store, clock }, [call]);
    clock.advance(30_000);
    isHeld = true;
    expect(await reader.current()).toBe(first);
    held.resolve();
    await reader.settled();
    const next = await reader.current();
    expect(next.measuredAtMs).toBe(windowStartMs + 30_000);
    expect(next.measuredFigures('m', 'p')?.uptime).toBe(1);
  });

  it('is rebuilt before it is served again after a quiet time, never served stale', async () => {
    const reader = readerOf({ store: tables.store, clock });
    await reader.current();
    clock.advance(60_001);
    expect((await reader.current()).measuredAtMs).toBe(clock.nowMs());
  });

  it('is never older than 60 seconds while requests flow, over any instances', async () => {
    const watched = watchedStore(tables.store);
    const readers = Array.from({ length: 4 }, () => readerOf({ store: watched.store, clock }));
    const ages: number[] = [];
    for (let second = 0; second < 150; second += 3) {
      const reader = readers[(second * 7) % readers.length] ?? readerOf({ store: watched.store, clock });
      const { measuredAtMs } = await reader.current();
      ages.push(clock.nowMs() - (measuredAtMs ?? Number.NEGATIVE_INFINITY));
      await reader.settled();
      clock.advance(3_000);
    }
    expect(Math.max(...ages)).toBeLessThanOrEqual(60_000);
    const rebuilds = watched.count('put', 'SNAPSHOT#');
    expect(rebuilds).toBeLessThanOrEqual(150 / 30);
    expect(watched.count('get', 'COUNTERS#')).toBe(rebuilds * readsPerRebuild);
  });
});

describe('the lease of a rebuild', () => {
  it('is taken over when its owner died, and not before it ended', async () => {
    await recordAll({ store: tables.store, clock }, [call]);
    const dying = watchedStore(tables.store, (_call, key) => key.startsWith('COUNTERS#'));
    expect((await readerOf({ store: dying.store, clock }).current()).measuredAtMs).toBeUndefined();
    const watched = watchedStore(tables.store);
    const heir = readerOf({ store: watched.store, clock: withRealTimers(clock) });
    clock.advance(9_999);
    expect((await heir.current()).measuredFigures('m', 'p')).toBeUndefined();
    await heir.settled();
    expect(watched.count('get', 'COUNTERS#')).toBe(0);
    expect(watched.count('update', '')).toBe(0);
    clock.advance(2_001);
    // A request waits for a second; on a busy machine the rebuild may take longer, and then the next request gets its
    // result.
    await heir.current();
    await heir.settled();
    expect((await heir.current()).measuredFigures('m', 'p')?.uptime).toBe(1);
  });
});

describe('a store that fails', () => {
  it('means no data and no error, is not asked on every request, and is asked again later', async () => {
    let isDown = true;
    const watched = watchedStore(tables.store, () => isDown);
    const reader = readerOf({ store: watched.store, clock });
    for (let requests = 0; requests < 10; requests += 1) {
      expect((await reader.current()).measuredFigures('m', 'p')).toBeUndefined();
    }
    expect(watched.count('get', '')).toBe(1);
    isDown = false;
    await recordAll({ store: tables.store, clock }, [call]);
    clock.advance(2_000);
    expect((await reader.current()).measuredFigures('m', 'p')?.uptime).toBe(1);
  });

  it('that refuses to publish does not keep the rebuilder from its own figures', async () => {
    await recordAll({ store: tables.store, clock }, [call]);
    const watched = watchedStore(tables.store, (kind) => kind === 'put');
    const reader = readerOf({ store: watched.store, clock });
    expect((await reader.current()).measuredFigures('m', 'p')?.uptime).toBe(1);
  });

  it('leaves the copy in use until it is 60 seconds old', async () => {
    let isDown = false;
    const reader = readerOf({ store: watchedStore(tables.store, () => isDown).store, clock });
    const first = await reader.current();
    isDown = true;
    clock.advance(60_000);
    expect(await reader.current()).toBe(first);
    await reader.settled();
    clock.advance(2_001);
    expect((await reader.current()).measuredAtMs).toBeUndefined();
  });

  it('that does not answer holds a request for a second in all, however often it asks', async () => {
    const never = new Promise<never>(() => {});
    const hanging = { ...tables.store, get: () => never };
    const reader = readerOf({ store: hanging, clock });
    const waiting = reader.current();
    clock.advance(1_000);
    expect((await waiting).measuredAtMs).toBeUndefined();
    // No timer fires here, because the clock stands still.
    expect((await reader.current()).measuredAtMs).toBeUndefined();
  });
});
