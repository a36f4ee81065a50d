// On a real engine: that a limit holds is the doing of its conditions.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { EntryLimits, ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { admitAtOnce, countAdmitted, noLimits, permitOf, startLimiters, waitOf } from './provider-limits-instances.ts';

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

describe('requests per minute', () => {
  const limits = { ...noLimits, rpm: 10 };

  it('admit exactly the limit of fifty calls at once on five instances', async () => {
    const admissions = await admitAtOnce(instances, entry, limits, times(50));
    expect(countAdmitted(admissions)).toBe(10);
    expect(await itemOf()).toMatchObject({ minute_requests: 10, minute_tokens: 0, day_tokens: 0 });
    clock.advance(20_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(0);
  });

  it('give no second burst at the boundary: a used slot comes back as its minute leaves the last sixty seconds', async () => {
    clock.advance(59_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(10);
    clock.advance(1_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(0);
    clock.advance(30_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(5);
    clock.advance(29_999);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20)))).toBe(4);
  });

  it('lose and double nothing when all instances open a minute at once', async () => {
    await admitAtOnce(instances, entry, limits, times(4));
    clock.advance(60_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(6);
    expect(await itemOf()).toMatchObject({ minute_requests: 6, previous_minute_requests: 4 });
    clock.advance(120_000);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(50)))).toBe(10);
    expect(await itemOf()).toMatchObject({ minute_requests: 10, previous_minute_requests: 0 });
  });

  it('say the true wait: at that moment the call is admitted, a millisecond before it is not', async () => {
    clock.advance(12_345);
    await admitAtOnce(instances, entry, limits, times(10));
    const waitMs = waitOf(await one.admit(entry, limits, 1));
    expect(waitMs).toBe(60_000 - 12_345 + 6_000);
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
    expect(await itemOf()).toMatchObject({ minute_tokens: sum, minute_requests: 0, day_tokens: 0 });
    const refused = estimates.filter((_, index) => admissions[index]?.kind === 'limited');
    expect(sum + Math.min(...refused)).toBeGreaterThan(1_000);
  });

  it('admit a call above the limit when nothing else counts, as if it were as large as the limit', async () => {
    await one.admit(entry, limits, 1);
    const waitMs = waitOf(await other.admit(entry, limits, 50_000));
    expect(waitMs).toBe(120_000);
    clock.advance(waitMs);
    await take(other, limits, 50_000);
    expect(await itemOf()).toMatchObject({ minute_tokens: 1_000 });
    expect((await one.admit(entry, limits, 1)).kind).toBe('limited');
  });

  it('are corrected to what the call really took, downward and upward', async () => {
    const low = await take(one, limits, 600);
    const high = await take(other, limits, 400);
    expect((await other.admit(entry, limits, 500)).kind).toBe('limited');
    await one.settle(low, 100);
    expect(await itemOf()).toMatchObject({ minute_tokens: 500 });
    expect((await other.admit(entry, limits, 500)).kind).toBe('admitted');
    await other.settle(high, 1_400);
    expect(await itemOf()).toMatchObject({ minute_tokens: 2_000 });
    // Twice the limit weighs 999 when half of the next minute and a little more is over.
    expect(waitOf(await one.admit(entry, limits, 1))).toBe(60_000 + 30_030);
  });

  it('are corrected in the previous minute once it has passed, and nowhere when that has passed too', async () => {
    const early = await take(one, limits, 300);
    const late = await take(one, limits, 300);
    clock.advance(60_000);
    await other.admit(entry, limits, 10);
    await one.settle(early, 100);
    expect(await itemOf()).toMatchObject({ minute_tokens: 10, previous_minute_tokens: 400 });
    clock.advance(60_000);
    await other.admit(entry, limits, 10);
    await one.settle(late, 0);
    expect(await itemOf()).toMatchObject({ minute_tokens: 10, previous_minute_tokens: 10 });
  });
});

describe('an instance that does not know of a late correction', () => {
  const limits = { ...noLimits, tpm: 1_000 };

  it('admits nothing on the ground of what it remembers, when the previous minute took more', async () => {
    const permit = await take(other, limits, 100);
    clock.advance(60_000);
    await take(one, limits, 10);
    await other.settle(permit, 900);
    expect((await one.admit(entry, limits, 500)).kind).toBe('limited');
    expect(await itemOf()).toMatchObject({ minute_tokens: 10, previous_minute_tokens: 900 });
  });

  it('refuses nothing on that ground, when the previous minute took less', async () => {
    const permit = await take(other, limits, 900);
    clock.advance(60_000);
    await take(one, limits, 10);
    await other.settle(permit, 100);
    await take(one, limits, 500);
    expect(await itemOf()).toMatchObject({ minute_tokens: 510, previous_minute_tokens: 100 });
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
    expect(waitOf(await other.admit(entry, limits, 1_000))).toBe(2 * hourMs + hourMs);
    clock.advance(8 * hourMs);
    expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(20, 1_000)))).toBe(6);
    expect(await itemOf()).toMatchObject({ day_tokens: 6_000, previous_day_tokens: 24_000, minute_requests: 6 });
  });

  it('are corrected in their own day, long after the minute has passed', async () => {
    const early = await take(one, limits, 9_000);
    const late = await take(one, limits, 9_000);
    clock.advance(hourMs);
    await other.admit(entry, limits, 1_000);
    await one.settle(early, 4_000);
    expect(await itemOf()).toMatchObject({ day_tokens: 14_000, minute_requests: 1, previous_minute_requests: 0 });
    clock.advance(24 * hourMs);
    await other.admit(entry, limits, 1_000);
    await one.settle(late, 10_000);
    expect(await itemOf()).toMatchObject({ day_tokens: 1_000, previous_day_tokens: 15_000 });
  });

  it('and the other limits together: the longest wait is said, and no counter moves for a refused call', async () => {
    const all = { rpm: 1, tpm: 500, tpd: 600 };
    await one.admit(entry, all, 400);
    const before = await itemOf();
    expect(waitOf(await other.admit(entry, all, 50))).toBe(120_000);
    expect(waitOf(await other.admit(entry, all, 500))).toBeGreaterThan(16 * hourMs);
    expect(await itemOf()).toEqual(before);
  });
});

describe('a permit', () => {
  const limits = { rpm: 2, tpm: 1_000, tpd: 5_000 };

  it('that is given back leaves nothing behind, and may be given back or settled again without effect', async () => {
    const permit = await take(one, limits, 700);
    await one.giveBack(permit);
    await one.giveBack(permit);
    await one.settle(permit, 900);
    expect(await itemOf()).toMatchObject({ minute_requests: 0, minute_tokens: 0, day_tokens: 0 });
  });

  it('that is settled keeps its request, also when the call took no tokens', async () => {
    const permit = await take(one, limits, 700);
    await one.settle(permit, 0);
    await one.giveBack(permit);
    expect(await itemOf()).toMatchObject({ minute_requests: 1, minute_tokens: 0, day_tokens: 0 });
  });

  it('never makes a counter negative when its item was deleted meanwhile', async () => {
    const permit = await take(one, limits, 300);
    const another = await take(one, limits, 300);
    await test.store.delete('limits', `provider#acme#${entry.model}#0`);
    await one.giveBack(permit);
    expect(await itemOf()).toBeUndefined();
    await take(other, limits, 100);
    await one.giveBack(another);
    expect(await itemOf()).toMatchObject({ minute_requests: 0, minute_tokens: 100, day_tokens: 100 });
  });

  it('makes an item that expires when a day and the day after are over', async () => {
    await one.admit(entry, limits, 1);
    const midnight = Date.UTC(2027, 0, 17) / 1_000;
    expect(clock.nowMs()).toBe(Date.UTC(2027, 0, 15, 8));
    expect(await itemOf()).toMatchObject({ expires_at_epoch_seconds: midnight });
  });
});
