// Random calls of several instances, many at once, against a ledger: every write that takes leaves the limit kept, and
// what the item counts is what was taken, to the token.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EntryLimits, Permit, ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';
import { skewed, startLimiters } from './provider-limits-instances.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const minuteMs = 60_000;
const dayMs = 86_400_000;
const skewMaxMs = 2_000;

type Action = { kind: 'admit'; instance: number; tokens: number } | { kind: 'close'; instance: number; tokens: number };
interface Round {
  readonly advanceMs: number;
  readonly actions: readonly Action[];
}

const instanceCount = 4;
const action = fc.record({
  kind: fc.constantFrom('admit' as const, 'admit' as const, 'admit' as const, 'close' as const),
  instance: fc.nat(instanceCount - 1),
  tokens: fc.nat(400),
});
const round: fc.Arbitrary<Round> = fc.record({
  advanceMs: fc.oneof(fc.nat(3_000), fc.nat(40_000), fc.nat(3 * minuteMs), fc.nat(dayMs)),
  actions: fc.array(action, { minLength: 1, maxLength: 15 }),
});
const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { freq: 4 });
const entryLimits = fc.record({ rpm: limit(15), tpm: limit(1_500), tpd: limit(6_000) });

/** What a permit still holds of each counter. */
interface Holding {
  readonly minute: number;
  readonly held: { minuteRequests: number; minuteTokens: number; dayTokens: number };
}

/** The same items by plain sums: no conditions, no windows that are moved. */
function expectItemToMatch(item: Item | undefined, holdings: readonly Holding[]): void {
  if (item === undefined) {
    expect(holdings).toEqual([]);
    return;
  }
  const index = Number(item.minute_index);
  const day = Math.floor((index * minuteMs) / dayMs);
  const sum = (name: keyof Holding['held'], belongs: (minute: number) => boolean) =>
    holdings.filter(({ minute }) => belongs(minute)).reduce((total, { held }) => total + held[name], 0);
  const inDay = (wanted: number) => (minute: number) => Math.floor((minute * minuteMs) / dayMs) === wanted;
  expect(item).toMatchObject({
    minute_requests: sum('minuteRequests', (minute) => minute === index),
    previous_minute_requests: sum('minuteRequests', (minute) => minute === index - 1),
    minute_tokens: sum('minuteTokens', (minute) => minute === index),
    previous_minute_tokens: sum('minuteTokens', (minute) => minute === index - 1),
    day_tokens: sum('dayTokens', inDay(day)),
    previous_day_tokens: sum('dayTokens', inDay(day - 1)),
  });
}

/** Looks at the item after each write that took something, by the clock of the instance that wrote it. */
function watching(store: Store, clock: Clock, limits: EntryLimits): Store {
  const check = (item: Item) => {
    const atMs = Math.max(clock.nowMs(), Number(item.minute_index) * minuteMs);
    const used = (current: string, previous: string, windowMs: number) =>
      Number(item[current]) + Number(item[previous]) * (1 - (atMs % windowMs) / windowMs);
    const slack = 1e-6;
    const most = (limit: number | null) => (limit ?? 0) + slack;
    expect(used('minute_requests', 'previous_minute_requests', minuteMs)).toBeLessThanOrEqual(most(limits.rpm));
    expect(used('minute_tokens', 'previous_minute_tokens', minuteMs)).toBeLessThanOrEqual(most(limits.tpm));
    expect(used('day_tokens', 'previous_day_tokens', dayMs)).toBeLessThanOrEqual(most(limits.tpd));
  };
  return {
    ...store,
    async update(update, options) {
      const result = await store.update(update, options);
      const takes = Object.keys(update.values ?? {}).some((name) => name.endsWith('Need'));
      if (result.kind === 'written' && takes && result.item !== undefined) check(result.item);
      return result;
    },
  };
}

/** Runs all rounds; the actions of one round at once. */
async function play(limits: EntryLimits, rounds: readonly Round[], model: string): Promise<void> {
  const clock = manualClock();
  const instances: ProviderLimiter[] = [-skewMaxMs, 0, 0, skewMaxMs].flatMap((byMs) => {
    const own = skewed(clock, byMs);
    return startLimiters(1, watching(test.store, own, limits), own);
  });
  const holdings: Holding[] = [];
  const open: { permit: Permit; owner: ProviderLimiter; holding: Holding }[] = [];
  for (const { advanceMs, actions } of rounds) {
    clock.advance(advanceMs);
    await Promise.all(
      actions.map(async ({ kind, instance, tokens }) => {
        const limiter = instances[instance];
        if (limiter === undefined) throw new Error('no such instance');
        if (kind === 'admit') return admit(limiter, tokens);
        const closing = open.shift();
        if (closing !== undefined) await close(closing, tokens);
      }),
    );
    expectItemToMatch(await test.store.get('limits', `provider#acme#${model}#0`), holdings);
  }

  async function admit(owner: ProviderLimiter, tokens: number): Promise<void> {
    const admission = await owner.admit({ provider: 'acme', model }, limits, tokens);
    if (admission.kind === 'limited') return expect(admission.retryAfterMs).toBeGreaterThan(0);
    const { permit } = admission;
    if (limits.rpm === null && limits.tpm === null && limits.tpd === null) return;
    const held = { minuteRequests: 0, minuteTokens: 0, dayTokens: 0, ...permit.taken };
    const holding = { minute: permit.minute, held };
    holdings.push(holding);
    open.push({ permit, owner, holding });
  }

  async function close({ permit, owner, holding }: (typeof open)[number], tokens: number): Promise<void> {
    if (tokens % 3 === 0) {
      Object.assign(holding.held, { minuteRequests: 0, minuteTokens: 0, dayTokens: 0 });
      return owner.giveBack(permit);
    }
    if (limits.tpm !== null) holding.held.minuteTokens = tokens;
    if (limits.tpd !== null) holding.held.dayTokens = tokens;
    return owner.settle(permit, tokens);
  }
}

describe('any interleaving of instances with skewed clocks', () => {
  it('keeps every limit at every admission, and loses or doubles no count', async () => {
    let run = 0;
    const rounds = fc.array(round, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(entryLimits, rounds, async (limits, played) => {
        run += 1;
        await play(limits, played, `acme/run-${run}`);
      }),
      { numRuns: 25 },
    );
  });
});
