// Random calls of several instances with skewed clocks, many at once, against a plain ledger: every write that takes
// leaves the limit kept, and what the item has counted is what was taken, to the token.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { EntryLimits, Permit, ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';
import { skewed, startLimiter } from './provider-limits-instances.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const minuteMs = 60_000;
const dayMs = 86_400_000;
const skewMaxMs = 2_000;

type Action = { kind: 'admit' | 'close'; instance: number; tokens: number };
interface Round {
  readonly advanceMs: number;
  readonly actions: readonly Action[];
}

const skewsMs = [-skewMaxMs, 0, 0, skewMaxMs];
const action = fc.record({
  kind: fc.constantFrom('admit' as const, 'admit' as const, 'admit' as const, 'close' as const),
  instance: fc.nat(skewsMs.length - 1),
  tokens: fc.nat(400),
});
const round: fc.Arbitrary<Round> = fc.record({
  advanceMs: fc.oneof(fc.nat(3_000), fc.nat(40_000), fc.nat(3 * minuteMs), fc.nat(dayMs)),
  actions: fc.array(action, { minLength: 1, maxLength: 15 }),
});
const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { freq: 4 });
const entryLimits = fc.record({ rpm: limit(15), tpm: limit(1_500), tpd: limit(6_000) });

const windows = [
  { letter: 'R', last: 'L', total: 'requests_total', lengthMs: minuteMs, correctableMs: 10_000, limitOf: 'rpm' },
  { letter: 'T', last: 'L', total: 'minute_tokens_total', lengthMs: minuteMs, correctableMs: minuteMs, limitOf: 'tpm' },
  { letter: 'D', last: 'E', total: 'day_tokens_total', lengthMs: dayMs, correctableMs: dayMs, limitOf: 'tpd' },
] as const;

/** What counts in an item at a moment: the parts whose last call came within the length of the window. */
const usedIn = (item: Item, { letter, last, lengthMs }: (typeof windows)[number], nowMs: number): number =>
  Object.entries(item)
    .filter(([name]) => name.startsWith(letter))
    .filter(([name]) => {
      const startMs = Number.parseInt(name.slice(1), 36) * 1_000;
      return startMs + Number(item[`${last}${name.slice(1)}`]) + lengthMs > nowMs;
    })
    .reduce((sum, [, count]) => sum + Number(count), 0);

/** Looks at the item after each write that took something, by the clock of the instance that wrote it. */
function watching(store: Store, clock: Clock, limits: EntryLimits): Store {
  return {
    ...store,
    async update(update, options) {
      const askedAtMs = clock.nowMs();
      const result = await store.update(update, options);
      const { item } = result;
      // Only a write that takes something dates the item.
      const takes = Object.values(update.names ?? {}).includes('expires_at_epoch_seconds');
      if (result.kind === 'written' && item !== undefined && takes) {
        for (const window of windows) {
          const most = limits[window.limitOf];
          if (most !== null) expect(usedIn(item, window, askedAtMs)).toBeLessThanOrEqual(most);
        }
      }
      return result;
    },
  };
}

/** What one permit has counted at last: exactly, or one of two where the end of its correction is a matter of clocks. */
interface Counted {
  readonly permit: Permit;
  readonly least: number[];
  readonly most: number[];
}

/** Runs all rounds; the actions of one round at once. */
async function play(limits: EntryLimits, rounds: readonly Round[], model: string): Promise<void> {
  const clock = manualClock();
  const clocks = skewsMs.map((byMs) => skewed(clock, byMs));
  const instances = clocks.map((own) => startLimiter(watching(test.store, own, limits), own));
  const ledger: Counted[] = [];
  const open: { counted: Counted; owner: ProviderLimiter; own: Clock }[] = [];
  const amountsOf = ({ demands }: Permit): number[] =>
    windows.map((window) => Number(demands.find(({ window: of }) => of.totalAttribute === window.total)?.amount ?? 0n));

  async function admit(instance: number, tokens: number): Promise<void> {
    const owner = instances[instance] as ProviderLimiter;
    const admission = await owner.admit({ provider: 'acme', model }, limits, tokens);
    if (admission.kind === 'limited') return expect(admission.retryAfterMs).toBeGreaterThan(0);
    const { permit } = admission;
    const counted = { permit, least: amountsOf(permit), most: amountsOf(permit) };
    ledger.push(counted);
    open.push({ counted, owner, own: clocks[instance] as Clock });
  }

  async function close({ counted, owner, own }: (typeof open)[number], tokens: number): Promise<void> {
    const isGivenBack = tokens % 3 === 0;
    const before = amountsOf(counted.permit);
    windows.forEach(({ limitOf, letter, correctableMs }, index) => {
      if (limits[limitOf] === null) return;
      const after = isGivenBack ? 0 : letter === 'R' ? (before[index] ?? 0) : tokens;
      const leftMs = counted.permit.countedAtMs + correctableMs - own.nowMs();
      // A part lasts up to two hours, of which the correction is counted from the beginning.
      const [surelyMs, noMoreMs] = letter === 'D' ? [7_200_000, 0] : [5_000 + 2 * skewMaxMs, -2 * skewMaxMs];
      const outcomes =
        leftMs > surelyMs ? [after] : leftMs < noMoreMs ? [before[index] ?? 0] : [after, before[index] ?? 0];
      counted.least[index] = Math.min(...outcomes);
      counted.most[index] = Math.max(...outcomes);
    });
    await (isGivenBack ? owner.giveBack(counted.permit) : owner.settle(counted.permit, tokens));
  }

  for (const { advanceMs, actions } of rounds) {
    clock.advance(advanceMs);
    await Promise.all(
      actions.map(({ kind, instance, tokens }) => {
        if (kind === 'admit') return admit(instance, tokens);
        const closing = open.shift();
        return closing && close(closing, tokens);
      }),
    );
    const item = await test.store.get('limits', `provider#acme#${model}#0`);
    windows.forEach(({ total, limitOf }, index) => {
      if (limits[limitOf] === null) return;
      const sum = (of: 'least' | 'most') => ledger.reduce((all, counted) => all + (counted[of][index] ?? 0), 0);
      expect(Number(item?.[total] ?? 0)).toBeGreaterThanOrEqual(sum('least'));
      expect(Number(item?.[total] ?? 0)).toBeLessThanOrEqual(sum('most'));
    });
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
      { numRuns: 30 },
    );
  });
});
