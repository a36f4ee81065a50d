// What an admission costs, counted on a real engine.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import {
  admitAtOnce,
  countAdmitted,
  countingCalls,
  noLimits,
  permitOf,
  startLimiter,
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

const times = (count: number, tokens = 1): number[] => Array.from({ length: count }, () => tokens);
const itemOf = () => test.store.get('limits', `provider#acme#${entry.model}#0`);

describe('an admission', () => {
  const limits = { rpm: 10, tpm: 10_000, tpd: 100_000 };
  const counted = () => {
    const { store, calls } = countingCalls(test.store);
    const limiter = startLimiter(store, clock);
    /** What one admission costs. */
    const cost = async (tokens = 100) => {
      const before = { ...calls };
      const { kind } = await limiter.admit(entry, limits, tokens);
      return { kind, reads: calls.reads - before.reads, writes: calls.writes - before.writes };
    };
    return { calls, limiter, cost };
  };

  it('is one write on a warm instance, and one read where it is refused', async () => {
    const { cost } = counted();
    expect(await cost()).toEqual({ kind: 'admitted', reads: 1, writes: 1 });
    for (let call = 1; call <= 9; call += 1) expect(await cost()).toEqual({ kind: 'admitted', reads: 0, writes: 1 });
    expect(await cost()).toEqual({ kind: 'limited', reads: 1, writes: 0 });
  });

  it('is one write also where another instance has counted since, in this minute or in a later one', async () => {
    const [here, elsewhere] = [counted(), counted()];
    await here.cost();
    for (const passedMs of [1_000, 10_000, 60_000, 600_000]) {
      clock.advance(passedMs);
      await elsewhere.cost();
      expect(await here.cost()).toEqual({ kind: 'admitted', reads: 0, writes: 1 });
    }
  });

  it('is one read and one write on an instance that does not know the entry', async () => {
    await counted().cost();
    expect(await counted().cost()).toEqual({ kind: 'admitted', reads: 1, writes: 1 });
  });

  it('shares its write with those that want the same entry at the same time', async () => {
    const { limiter, calls } = counted();
    const wide = { ...noLimits, rpm: 300 };
    expect(countAdmitted(await admitAtOnce([limiter], entry, wide, times(400)))).toBe(300);
    expect(calls).toEqual({ reads: 1, writes: 1 });
    const permits = (await admitAtOnce([limiter], entry, { ...noLimits, tpm: 1e6 }, times(200, 9))).map(permitOf);
    const before = { ...calls };
    await Promise.all(permits.map((permit) => limiter.settle(permit, 7)));
    expect(calls.writes - before.writes).toBe(2);
  });

  it('without limits asks the store nothing, nor does what follows it', async () => {
    const { limiter, calls } = counted();
    const permit = permitOf(await limiter.admit(entry, noLimits, 100));
    await limiter.settle(permit, 50);
    await limiter.giveBack(permitOf(await limiter.admit(entry, noLimits, 100)));
    expect(calls).toEqual({ reads: 0, writes: 0 });
    expect(await itemOf()).toBeUndefined();
  });

  it('needs one more write to be settled, and none where no tokens are limited or the estimate was right', async () => {
    const { limiter, calls } = counted();
    const permit = permitOf(await limiter.admit(entry, limits, 100));
    const before = { ...calls };
    await limiter.settle(permit, 70);
    expect(calls.writes - before.writes).toBe(1);
    await limiter.settle(permitOf(await limiter.admit(entry, limits, 100)), 100);
    await limiter.settle(permitOf(await limiter.admit({ ...entry, provider: 'b' }, { ...noLimits, rpm: 5 }, 9)), 900);
    expect(calls.writes - before.writes).toBe(1 + 1 + 1);
  });
});
