// What an admission costs: writes, counted on a real engine.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createProviderLimiter, type ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import {
  admitAtOnce,
  countingWrites,
  noLimits,
  noRandomness,
  permitOf,
  startLimiters,
  waitOf,
} from './provider-limits-instances.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

/** The manual clock starts when a minute does. */
let clock: ManualClock;
let entry: { provider: string; model: string };
let instances: ProviderLimiter[];
let entries = 0;
beforeEach(() => {
  clock = manualClock();
  entries += 1;
  entry = { provider: 'acme', model: `acme/model-${entries}` };
  instances = startLimiters(5, test.store, clock);
});

const times = (count: number, tokens = 1): number[] => Array.from({ length: count }, () => tokens);
const itemOf = () => test.store.get('limits', `provider#acme#${entry.model}#0`);

describe('an admission', () => {
  const limits = { rpm: 10, tpm: 10_000, tpd: 100_000 };
  const counted = () => {
    const { store, writes } = countingWrites(test.store);
    return { writes, limiter: createProviderLimiter({ store, clock, randomness: noRandomness }) };
  };

  it('is one write on a warm instance, whether admitted or refused', async () => {
    const { limiter, writes } = counted();
    await limiter.admit(entry, limits, 100);
    for (let call = 1; call <= 9; call += 1) {
      const before = writes();
      expect((await limiter.admit(entry, limits, 100)).kind).toBe('admitted');
      expect(writes() - before).toBe(1);
    }
    const before = writes();
    expect((await limiter.admit(entry, limits, 100)).kind).toBe('limited');
    expect(writes() - before).toBe(1);
  });

  it('is one write when the instance itself opens the next minute, and two when another one has', async () => {
    const { limiter, writes } = counted();
    await limiter.admit(entry, limits, 100);
    const opened = writes();
    clock.advance(60_000);
    await limiter.admit(entry, limits, 100);
    expect(writes() - opened).toBe(1);
    clock.advance(60_000);
    await startLimiters(1, test.store, clock)[0]?.admit(entry, limits, 100);
    const before = writes();
    await limiter.admit(entry, limits, 100);
    expect(writes() - before).toBe(2);
  });

  it('is one write on a cold instance of an entry that is far from its limits, at most two elsewhere', async () => {
    const unused = counted();
    await unused.limiter.admit(entry, limits, 100);
    expect(unused.writes()).toBe(2);
    clock.advance(40_000);
    const calm = counted();
    await calm.limiter.admit(entry, limits, 100);
    expect(calm.writes()).toBe(1);
    await admitAtOnce(instances, entry, limits, times(6, 100));
    const busy = counted();
    expect((await busy.limiter.admit(entry, limits, 100)).kind).toBe('admitted');
    expect(busy.writes()).toBe(2);
  });

  it('that is refused does not write again for room that came while its answer was on the way', async () => {
    await admitAtOnce(instances, entry, { ...noLimits, rpm: 10 }, times(10));
    clock.advance(60_000);
    let sent = 0;
    const slow: Store = {
      ...test.store,
      async update(update, options) {
        sent += 1;
        const result = await test.store.update(update, options);
        clock.advance(2_000);
        return result;
      },
    };
    const limiter = createProviderLimiter({ store: slow, clock, randomness: noRandomness });
    expect(waitOf(await limiter.admit(entry, { ...noLimits, rpm: 10 }, 1))).toBe(4_000);
    expect(sent).toBe(1);
  });

  it('without limits asks the store nothing, nor does what follows it', async () => {
    const { limiter, writes } = counted();
    const permit = permitOf(await limiter.admit(entry, noLimits, 100));
    await limiter.settle(permit, 50);
    await limiter.giveBack(permitOf(await limiter.admit(entry, noLimits, 100)));
    expect(writes()).toBe(0);
    expect(await itemOf()).toBeUndefined();
  });

  it('needs one more write to be settled, and none where no tokens are limited or the estimate was right', async () => {
    const { limiter, writes } = counted();
    const permit = permitOf(await limiter.admit(entry, limits, 100));
    const before = writes();
    await limiter.settle(permit, 70);
    expect(writes() - before).toBe(1);
    await limiter.settle(permitOf(await limiter.admit(entry, limits, 100)), 100);
    await limiter.settle(permitOf(await limiter.admit({ ...entry, provider: 'b' }, { ...noLimits, rpm: 5 }, 9)), 900);
    expect(writes() - before).toBe(1 + 1 + 2);
  });
});
