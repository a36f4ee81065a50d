// What instances with other clocks, other shards, another catalogue or a broken store make of the limits.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createProviderLimiter } from '../../shared/accounting/limits/index.ts';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import {
  admitAtOnce,
  countAdmitted,
  countingWrites,
  noLimits,
  noRandomness,
  permitOf,
  skewed,
  startLimiters,
  waitOf,
} from './provider-limits-instances.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

let clock: ManualClock;
let entry: { provider: string; model: string };
let entries = 0;
beforeEach(() => {
  clock = manualClock();
  entries += 1;
  entry = { provider: 'acme', model: `acme/model-${entries}` };
});
const startOne = (at: Clock = clock, store: Store = test.store, randomness: Randomness = noRandomness) =>
  createProviderLimiter({ store, clock: at, randomness });
const times = (count: number, tokens = 1): number[] => Array.from({ length: count }, () => tokens);
const itemOf = (shard = 0) => test.store.get('limits', `provider#acme#${entry.model}#${shard}`);

describe('instances whose clocks differ', () => {
  const limits = { ...noLimits, rpm: 10 };
  const startSkewed = () => [
    ...startLimiters(2, test.store, skewed(clock, -3_000)),
    ...startLimiters(1, test.store, clock),
    ...startLimiters(2, test.store, skewed(clock, 3_000)),
  ];

  it('admit exactly the limit together, also while some are in the next minute and some are not', async () => {
    const instances = startSkewed();
    clock.advance(30_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(10);
    clock.advance(28_500);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(0);
  });

  it('never take an item back: one that is behind counts in the minute that another has opened', async () => {
    clock.advance(58_000);
    const [ahead, behind] = [startOne(skewed(clock, 3_000)), startOne()];
    permitOf(await behind.admit(entry, limits, 1));
    permitOf(await ahead.admit(entry, limits, 1));
    permitOf(await behind.admit(entry, limits, 1));
    expect(await itemOf()).toMatchObject({ minute_requests: 2, previous_minute_requests: 1 });
    await admitAtOnce([behind], entry, limits, times(20));
    expect(await itemOf()).toMatchObject({ minute_requests: 9, previous_minute_requests: 1 });
    // By its own clock the open minute begins in two seconds, and the last slot is free when that minute is over.
    expect(waitOf(await behind.admit(entry, limits, 1))).toBe(2_000 + 60_000);
  });

  it('do not follow one that is minutes ahead: its count stays in force, and the entry is not shut', async () => {
    const [broken, sound] = [startOne(skewed(clock, 3_600_000)), startOne()];
    await admitAtOnce([broken], entry, limits, times(4));
    expect(countAdmitted(await admitAtOnce([sound], entry, limits, times(20)))).toBe(6);
    const minute = clock.nowMs() / 60_000;
    expect(await itemOf()).toMatchObject({ minute_index: minute, minute_requests: 10 });
    clock.advance(120_000);
    expect(countAdmitted(await admitAtOnce([sound], entry, limits, times(20)))).toBe(10);
  });
});

describe('an entry with shards', () => {
  /** Three shards of 30,000 requests. */
  const limits = { ...noLimits, rpm: 90_000 };
  const choosing = (...fractions: number[]): Randomness => ({
    ...noRandomness,
    fraction: () => fractions.shift() ?? 0,
  });
  const fill = (shard: number, requests: number, minute = clock.nowMs() / 60_000) =>
    test.store.put({
      table: 'limits',
      item: {
        pk: `provider#acme#${entry.model}#${shard}`,
        minute_index: minute,
        ...{ minute_requests: requests, minute_tokens: 0, day_tokens: 0 },
        ...{ previous_minute_requests: 0, previous_minute_tokens: 0, previous_day_tokens: 0 },
      },
    });

  it('counts a call in one of them, by chance', async () => {
    permitOf(await startOne(clock, test.store, choosing(0.4)).admit(entry, limits, 1));
    permitOf(await startOne(clock, test.store, choosing(0.999)).admit(entry, limits, 1));
    expect(await Promise.all([0, 1, 2].map(itemOf))).toMatchObject([
      undefined,
      { minute_requests: 1 },
      { minute_requests: 1 },
    ]);
  });

  it('tries one other shard when the first is full, and says the shorter wait when both are', async () => {
    await fill(0, 30_000);
    await fill(1, 30_000);
    permitOf(await startOne(clock, test.store, choosing(0, 0.5)).admit(entry, limits, 1));
    expect(await itemOf(2)).toMatchObject({ minute_requests: 1 });
    const { store, writes } = countingWrites(test.store);
    const limiter = startOne(clock, store, choosing(0.4, 0.5));
    expect(waitOf(await limiter.admit(entry, limits, 1))).toBe(60_002);
    expect(writes()).toBe(2);
    expect(await itemOf(2)).toMatchObject({ minute_requests: 1 });
  });

  it('holds its limit over all shards', async () => {
    for (const shard of [0, 1, 2]) await fill(shard, 29_990 + shard);
    const instances = [0, 1, 2].flatMap((shard) => {
      const fractions = { ...noRandomness, fraction: () => shard / 3 + 0.01 };
      return startLimiters(1, test.store, clock, fractions);
    });
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(90)))).toBe(10 + 9 + 8);
  });

  it('gives a permit back to the shard it came from', async () => {
    const limiter = startOne(clock, test.store, choosing(0.4));
    await limiter.giveBack(permitOf(await limiter.admit(entry, limits, 1)));
    expect(await Promise.all([0, 1, 2].map(itemOf))).toMatchObject([undefined, { minute_requests: 0 }, undefined]);
  });
});

describe('limits that are changed', () => {
  it('hold at once at their new height, and count from now on where there was none', async () => {
    const limiter = startOne();
    await admitAtOnce([limiter], entry, { ...noLimits, rpm: 10 }, times(8));
    expect((await startOne().admit(entry, { ...noLimits, rpm: 5 }, 1)).kind).toBe('limited');
    expect(countAdmitted(await admitAtOnce([limiter], entry, { ...noLimits, rpm: 12, tpm: 100 }, times(9, 30)))).toBe(
      3,
    );
    expect(await itemOf()).toMatchObject({ minute_requests: 11, minute_tokens: 90 });
  });
});

describe('an admission that always comes second', () => {
  it('gives up after five writes and says to come back at once, although there is room', async () => {
    const { store, writes } = countingWrites({
      ...test.store,
      update: async () => ({ kind: 'refused', item: { minute_index: clock.nowMs() / 60_000, minute_requests: 1 } }),
    });
    expect(waitOf(await startOne(clock, store).admit(entry, { ...noLimits, rpm: 10 }, 1))).toBe(50);
    expect(writes()).toBe(5);
  });
});

describe('a store that fails', () => {
  const limits = { rpm: 10, tpm: 1_000, tpd: null };

  it('rejects an admission, and each write is sent once and never marked as repeatable', async () => {
    const { store, writes } = countingWrites({
      ...test.store,
      update: async ({ repeatable }) => {
        expect(repeatable ?? false).toBe(false);
        throw new StoreUnavailable('down');
      },
    });
    await expect(startOne(clock, store).admit(entry, limits, 1)).rejects.toThrow(StoreUnavailable);
    expect(writes()).toBe(1);
  });

  it('rejects a settlement, which may then be made again', async () => {
    let down = false;
    const limiter = startOne(clock, {
      ...test.store,
      update: (update, options) =>
        down ? Promise.reject(new StoreUnavailable('down')) : test.store.update(update, options),
    });
    const permit = permitOf(await limiter.admit(entry, limits, 500));
    down = true;
    await expect(limiter.settle(permit, 200)).rejects.toThrow(StoreUnavailable);
    down = false;
    await limiter.settle(permit, 200);
    expect(await itemOf()).toMatchObject({ minute_tokens: 200 });
  });

  it('leaves a slot taken when the answer of an admission is lost, until its window is over', async () => {
    const losing = startOne(clock, {
      ...test.store,
      update: async (update, options) => {
        const result = await test.store.update(update, options);
        if (result.kind === 'written') throw new StoreUnavailable('answer lost');
        return result;
      },
    });
    await expect(losing.admit(entry, { ...noLimits, rpm: 1 }, 1)).rejects.toThrow(StoreUnavailable);
    const sound = startOne();
    expect((await sound.admit(entry, { ...noLimits, rpm: 1 }, 1)).kind).toBe('limited');
    clock.advance(120_000);
    expect((await sound.admit(entry, { ...noLimits, rpm: 1 }, 1)).kind).toBe('admitted');
  });

  it('is not waited for when the caller gives up', async () => {
    const caller = new AbortController();
    caller.abort();
    const admission = startOne().admit(entry, limits, 1, { signal: caller.signal });
    await expect(admission).rejects.toThrow(StoreUnavailable);
    expect(await itemOf()).toBeUndefined();
  });
});
