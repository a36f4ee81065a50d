// On a real engine: that a limit holds is the doing of its conditions.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { EntryLimits, ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import {
  admitAtOnce,
  countAdmitted,
  countsIn,
  noLimits,
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
/** Two of the instances. */
let one: ProviderLimiter;
let other: ProviderLimiter;
let entries = 0;
beforeEach(() => {
  clock = manualClock();
  entries += 1;
  entry = { provider: 'acme', model: `acme/model-${entries}` };
  instances = startLimiters(5, test.store, clock);
  [one, other] = instances as [ProviderLimiter, ProviderLimiter];
});

const times = (count: number, tokens = 1): number[] => Array.from({ length: count }, () => tokens);
const take = async (limiter: ProviderLimiter, limits: EntryLimits, tokens: number) =>
  permitOf(await limiter.admit(entry, limits, tokens));
const itemOf = () => test.store.get('limits', `provider#acme#${entry.model}#0`);
const counts = async () => countsIn(await itemOf());

describe('requests per minute', () => {
  const limits = { ...noLimits, rpm: 10 };

  it('admit exactly the limit of fifty calls at once on five instances', async () => {
    const admissions = await admitAtOnce(instances, entry, limits, times(50));
    expect(countAdmitted(admissions)).toBe(10);
    expect(await counts()).toEqual({ requests: 10, minuteTokens: 0, dayTokens: 0 });
    clock.advance(20_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(0);
  });

  it('give no second burst at the boundary of a minute: a used slot comes back after sixty seconds', async () => {
    clock.advance(59_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(10);
    clock.advance(1_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(0);
    clock.advance(58_999);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(0);
    clock.advance(1);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(10);
  });

  it('lose and double nothing when all instances find an old window at once', async () => {
    await admitAtOnce(instances, entry, limits, times(4));
    clock.advance(60_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(10);
    expect(await itemOf()).toMatchObject({ requests_total: 14 });
    clock.advance(120_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(10);
    expect(await itemOf()).toMatchObject({ requests_total: 24 });
  });

  it('say the true wait: at that moment the call is admitted, a millisecond before it is not', async () => {
    clock.advance(12_345);
    await admitAtOnce(instances, entry, limits, times(4));
    clock.advance(10_000);
    await admitAtOnce(instances, entry, limits, times(6));
    const waitMs = waitOf(await one.admit(entry, limits, 1));
    expect(waitMs).toBe(50_000);
    clock.advance(waitMs - 1);
    expect(waitOf(await other.admit(entry, limits, 1))).toBe(1);
    clock.advance(1);
    expect((await one.admit(entry, limits, 1)).kind).toBe('admitted');
  });

  it('belong to one provider and one model', async () => {
    await admitAtOnce(instances, entry, limits, times(10));
    const elsewhere = { ...entry, provider: 'other' };
    expect(countAdmitted(await admitAtOnce(instances, elsewhere, limits, times(12)))).toBe(10);
  });
});

describe('tokens per minute', () => {
  const limits = { ...noLimits, tpm: 1_000 };

  it('are never exceeded by calls of different size, and a refused call takes nothing', async () => {
    const estimates = Array.from({ length: 40 }, (_, index) => 10 + ((index * 37) % 160));
    const admissions = await admitAtOnce(instances, entry, limits, estimates);
    const taken = estimates.filter((_, index) => admissions[index]?.kind === 'admitted');
    const sum = taken.reduce((total, tokens) => total + tokens, 0);
    expect(sum).toBeLessThanOrEqual(1_000);
    expect(await counts()).toEqual({ requests: 0, minuteTokens: sum, dayTokens: 0 });
    const refused = estimates.filter((_, index) => admissions[index]?.kind === 'limited');
    expect(sum + Math.min(...refused)).toBeGreaterThan(1_000);
  });

  it('admit a call above the limit when nothing else counts, as if it were as large as the limit', async () => {
    await one.admit(entry, limits, 1);
    const waitMs = waitOf(await other.admit(entry, limits, 50_000));
    expect(waitMs).toBe(60_000);
    clock.advance(waitMs);
    await take(other, limits, 50_000);
    expect(await itemOf()).toMatchObject({ minute_tokens_total: 1_001 });
    expect((await one.admit(entry, limits, 1)).kind).toBe('limited');
  });

  it('are corrected to what the call really took, downward and upward', async () => {
    const low = await take(one, limits, 600);
    const high = await take(other, limits, 400);
    expect((await other.admit(entry, limits, 500)).kind).toBe('limited');
    await one.settle(low, 100);
    expect(await counts()).toMatchObject({ minuteTokens: 500 });
    expect((await other.admit(entry, limits, 500)).kind).toBe('admitted');
    await other.settle(high, 1_400);
    expect(await counts()).toMatchObject({ minuteTokens: 2_000 });
    expect(waitOf(await one.admit(entry, limits, 1))).toBe(60_000);
  });

  it('are corrected where they were counted while they count, and nowhere after that', async () => {
    const early = await take(one, limits, 300);
    const late = await take(one, limits, 300);
    clock.advance(59_000);
    await other.admit(entry, limits, 10);
    await one.settle(early, 100);
    expect(await counts()).toMatchObject({ minuteTokens: 410 });
    clock.advance(1_000);
    expect((await other.admit(entry, limits, 990)).kind).toBe('admitted');
    await one.settle(late, 0);
    expect(await counts()).toMatchObject({ minuteTokens: 1_000 });
  });
});

describe('an instance that does not know of a late correction', () => {
  const limits = { ...noLimits, tpm: 1_000 };

  it('admits nothing on the ground of what it remembers, when the call took more', async () => {
    const permit = await take(other, limits, 100);
    clock.advance(30_000);
    await take(one, limits, 10);
    await other.settle(permit, 900);
    expect((await one.admit(entry, limits, 500)).kind).toBe('limited');
    expect(await counts()).toMatchObject({ minuteTokens: 910 });
  });

  it('refuses nothing on that ground, when the call took less', async () => {
    const permit = await take(other, limits, 900);
    clock.advance(30_000);
    await take(one, limits, 10);
    await other.settle(permit, 100);
    await take(one, limits, 500);
    expect(await counts()).toMatchObject({ minuteTokens: 610 });
  });

  it('admits nothing too much when what it remembers is over and was corrected since', async () => {
    const permits = [await take(other, limits, 400), await take(other, limits, 400)];
    clock.advance(50_000);
    await take(one, limits, 10);
    for (const permit of permits) await other.settle(permit, 1);
    clock.advance(10_000);
    expect((await other.admit(entry, limits, 800)).kind).toBe('admitted');
    expect((await one.admit(entry, limits, 191)).kind).toBe('limited');
    expect((await one.admit(entry, limits, 190)).kind).toBe('admitted');
  });
});

describe('tokens per day', () => {
  const limits = { ...noLimits, rpm: 100, tpd: 24_000 };
  const hourMs = 3_600_000;

  it('say a wait of hours when the day is used up, and hold over minutes and over midnight', async () => {
    // The clock starts at eight in the morning.
    clock.advance(4 * hourMs);
    await take(one, limits, 24_000);
    clock.advance(10 * hourMs);
    expect(waitOf(await other.admit(entry, limits, 1_000))).toBe(14 * hourMs);
    clock.advance(14 * hourMs - 1);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20, 1_000)))).toBe(0);
    clock.advance(1);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(30, 1_000)))).toBe(24);
  });

  it('are corrected in their own day, long after the minute has passed', async () => {
    const early = await take(one, limits, 9_000);
    const late = await take(one, limits, 9_000);
    clock.advance(hourMs);
    await other.admit(entry, limits, 1_000);
    await one.settle(early, 4_000);
    expect(await counts()).toMatchObject({ dayTokens: 14_000 });
    clock.advance(24 * hourMs);
    await other.admit(entry, limits, 1_000);
    await one.settle(late, 10_000);
    expect(await itemOf()).toMatchObject({ day_tokens_total: 15_000 });
  });

  it('and the other limits together: the longest wait is said, and no counter moves for a refused call', async () => {
    const all = { rpm: 1, tpm: 500, tpd: 600 };
    await one.admit(entry, all, 400);
    const before = await itemOf();
    expect(waitOf(await other.admit(entry, all, 50))).toBe(60_000);
    expect(waitOf(await other.admit(entry, all, 500))).toBe(24 * hourMs);
    expect(await itemOf()).toEqual(before);
  });
});

describe('a permit', () => {
  const limits = { rpm: 2, tpm: 1_000, tpd: 5_000 };

  it('that is given back at once leaves nothing behind, and may be given back or settled again without effect', async () => {
    const permit = await take(one, limits, 700);
    await one.giveBack(permit);
    await one.giveBack(permit);
    await one.settle(permit, 900);
    expect(await counts()).toEqual({ requests: 0, minuteTokens: 0, dayTokens: 0 });
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(5)))).toBe(2);
  });

  it('that is given back later leaves no tokens behind, but a request that is counted until its minute is over', async () => {
    const permit = await take(one, limits, 700);
    clock.advance(10_000);
    await one.giveBack(permit);
    expect(await counts()).toEqual({ requests: 1, minuteTokens: 0, dayTokens: 0 });
  });

  it('that is settled keeps its request, also when the call took no tokens', async () => {
    const permit = await take(one, limits, 700);
    await one.settle(permit, 0);
    await one.giveBack(permit);
    expect(await counts()).toEqual({ requests: 1, minuteTokens: 0, dayTokens: 0 });
  });

  it('never makes a counter negative when its item was deleted meanwhile', async () => {
    const permit = await take(one, limits, 300);
    const another = await take(one, limits, 300);
    await test.store.delete('limits', `provider#acme#${entry.model}#0`);
    await one.giveBack(permit);
    expect(await itemOf()).toBeUndefined();
    await take(other, limits, 100);
    await one.giveBack(another);
    expect(await counts()).toEqual({ requests: 1, minuteTokens: 100, dayTokens: 100 });
  });

  it('makes an item that expires when a day and the day after are over', async () => {
    await one.admit(entry, limits, 1);
    const midnight = Date.UTC(2027, 0, 17) / 1_000;
    expect(clock.nowMs()).toBe(Date.UTC(2027, 0, 15, 8));
    expect(await itemOf()).toMatchObject({ expires_at_epoch_seconds: midnight });
  });
});

it('an entry with every limit set, in use for days, keeps an item below a kilobyte', async () => {
  const limits = { rpm: 1_000_000, tpm: 1_000_000_000, tpd: 1_000_000_000_000 };
  for (let step = 0; step < 60; step += 1) {
    clock.advance(step < 30 ? 5_400_000 : 4_500);
    await one.settle(await take(one, limits, 123_456), 65_432);
  }
  const names = Object.keys((await itemOf()) ?? {});
  expect(names.length).toBeLessThan(70);
  const digits = (value: unknown) => (value instanceof Set ? 7 * value.size : Math.ceil(String(value).length / 2) + 1);
  const bytes = Object.entries((await itemOf()) ?? {}).reduce(
    (sum, [name, value]) => sum + name.length + digits(value),
    0,
  );
  expect(bytes).toBeLessThan(1_024);
});
