// What instances with other clocks, other shards, another catalogue or a broken store make of the limits.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import {
  admitAtOnce,
  countAdmitted,
  countingCalls,
  countsIn,
  firstShard,
  noLimits,
  permitOf,
  skewed,
  startLimiter,
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
const startOne = (at: Clock = clock, store: Store = test.store, randomness: Randomness = firstShard) =>
  startLimiter(store, at, randomness);
const times = (count: number, tokens = 1): number[] => Array.from({ length: count }, () => tokens);
const itemOf = (shard = 0) => test.store.get('limits', `provider#acme#${entry.model}#${shard}`);
const requestsOf = async (shard = 0) => countsIn(await itemOf(shard)).requests;

describe('instances whose clocks differ', () => {
  const limits = { ...noLimits, rpm: 10 };
  const startSkewed = () => [
    ...startLimiters(2, test.store, skewed(clock, -3_000)),
    ...startLimiters(1, test.store, clock),
    ...startLimiters(2, test.store, skewed(clock, 3_000)),
  ];

  it('admit exactly the limit together, also while some are in the next part of the minute and some are not', async () => {
    const instances = startSkewed();
    clock.advance(30_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(10);
    clock.advance(28_500);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(0);
  });

  it('are not shut out by one that is an hour ahead', async () => {
    const [broken, sound] = [startOne(skewed(clock, 3_600_000)), startOne()];
    await admitAtOnce([broken], entry, limits, times(4));
    expect(countAdmitted(await admitAtOnce([sound], entry, limits, times(20)))).toBe(10);
    clock.advance(120_000);
    expect(countAdmitted(await admitAtOnce([sound], entry, limits, times(20)))).toBe(10);
  });
});

describe('an entry with shards', () => {
  /** Three shards of 30,000 requests. */
  const limits = { ...noLimits, rpm: 90_000 };
  const choosing = (...fractions: number[]): Randomness => ({ ...firstShard, fraction: () => fractions.shift() ?? 0 });
  const fill = (shard: number, requests: number) => {
    const part = (clock.nowMs() / 1_000).toString(36);
    const key = `provider#acme#${entry.model}#${shard}`;
    return test.store.put({
      table: 'limits',
      item: { pk: key, requests_total: requests, [`R${part}`]: requests, [`L${part}`]: 0 },
    });
  };

  it('counts a call in one of them, by chance', async () => {
    permitOf(await startOne(clock, test.store, choosing(0.4)).admit(entry, limits, 1));
    permitOf(await startOne(clock, test.store, choosing(0.999)).admit(entry, limits, 1));
    expect(await Promise.all([0, 1, 2].map(requestsOf))).toEqual([0, 1, 1]);
  });

  it('tries one other shard when the first is full, and says the shorter wait when both are', async () => {
    await fill(0, 30_000);
    clock.advance(5_000);
    await fill(1, 30_000);
    permitOf(await startOne(clock, test.store, choosing(0, 0.5)).admit(entry, limits, 1));
    expect(await requestsOf(2)).toBe(1);
    const { store, calls } = countingCalls(test.store);
    const limiter = startOne(clock, store, choosing(0.4, 0.5));
    expect(waitOf(await limiter.admit(entry, limits, 1))).toBe(55_000);
    expect(calls).toEqual({ reads: 2, writes: 0 });
    expect(await requestsOf(2)).toBe(1);
  });

  it('holds its limit over all shards', async () => {
    for (const shard of [0, 1, 2]) await fill(shard, 29_990 + shard);
    const instances = [0, 1, 2].map((shard) =>
      startOne(clock, test.store, { ...firstShard, fraction: () => shard / 3 + 0.01 }),
    );
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(90)))).toBe(10 + 9 + 8);
  });

  it('gives a permit back to the shard it came from', async () => {
    const limiter = startOne(clock, test.store, choosing(0.4));
    await limiter.giveBack(permitOf(await limiter.admit(entry, limits, 1)));
    expect(await itemOf(0)).toBeUndefined();
    expect(await itemOf(1)).toMatchObject({ requests_total: 0 });
    expect(await itemOf(2)).toBeUndefined();
  });
});

describe('limits that are changed', () => {
  it('hold at once at their new height, and count from now on where there was none', async () => {
    const limiter = startOne();
    await admitAtOnce([limiter], entry, { ...noLimits, rpm: 10 }, times(8));
    expect((await startOne().admit(entry, { ...noLimits, rpm: 5 }, 1)).kind).toBe('limited');
    const both = { ...noLimits, rpm: 12, tpm: 100 };
    expect(countAdmitted(await admitAtOnce([limiter], entry, both, times(9, 30)))).toBe(3);
    expect(countsIn(await itemOf())).toMatchObject({ requests: 11, minuteTokens: 90 });
  });
});

describe('an admission that always comes second', () => {
  it('gives up after ten writes', async () => {
    const { store, calls } = countingCalls({
      ...test.store,
      update: async () => ({ kind: 'refused', item: { requests_total: 1 } }),
    });
    await expect(startOne(clock, store).admit(entry, { ...noLimits, rpm: 10 }, 1)).rejects.toThrow(StoreUnavailable);
    expect(calls.writes).toBeLessThanOrEqual(10);
  });
});

describe('a store that fails', () => {
  const limits = { rpm: 10, tpm: 1_000, tpd: null };

  it('rejects an admission, which was asked for once', async () => {
    const { store, calls } = countingCalls({
      ...test.store,
      update: async () => {
        throw new StoreUnavailable('down');
      },
    });
    await expect(startOne(clock, store).admit(entry, limits, 1)).rejects.toThrow(StoreUnavailable);
    expect(calls).toEqual({ reads: 1, writes: 1 });
  });

  it.each(['before', 'after'])(
    'rejects a settlement, which may then be made again and counts once: answer lost %s the write',
    async (when) => {
      let isDown = false;
      const limiter = startOne(clock, {
        ...test.store,
        update: async (update, options) => {
          if (isDown && when === 'before') throw new StoreUnavailable('down');
          const result = await test.store.update(update, options);
          if (isDown) throw new StoreUnavailable('answer lost');
          return result;
        },
      });
      const permit = permitOf(await limiter.admit(entry, limits, 500));
      isDown = true;
      await expect(limiter.settle(permit, 200)).rejects.toThrow(StoreUnavailable);
      isDown = false;
      await limiter.settle(permit, 200);
      expect(countsIn(await itemOf())).toMatchObject({ minuteTokens: 200 });
    },
  );

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
    clock.advance(60_000);
    expect((await sound.admit(entry, { ...noLimits, rpm: 1 }, 1)).kind).toBe('admitted');
  });
});
