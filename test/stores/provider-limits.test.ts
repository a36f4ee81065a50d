// The suite runs on a real engine, because the conditions of writes are what enforces a limit.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import type { EntryLimits, Permit, ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import { type Item, type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';
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

onEachStore((start) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await start();
  });
  afterAll(() => test.stop());

  /** The manual clock starts at the beginning of a minute. */
  let clock: ManualClock;
  let entry: { provider: string; model: string };
  let instances: ProviderLimiter[];
  /** Two of the instances, `one` and `other`. */
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
    permitOf(await limiter.admit(entry, limits, { tokens, requests: 1 }));
  const itemOf = (shard = 0) => test.store.get('limits', `provider#acme#${entry.model}#${shard}`);
  const counts = async () => countsIn(await itemOf());
  const requestsOf = async (shard: number) => countsIn(await itemOf(shard)).requests;
  const startOne = (at: Clock = clock, store: Store = test.store, randomness: Randomness = firstShard) =>
    startLimiter(store, at, randomness);

  describe('a permit', () => {
    const limits = { rpm: 2, tpm: 1_000, tpd: 5_000 };

    it('that is released at once leaves nothing behind, and may be released or settled again without effect', async () => {
      const permit = await take(one, limits, 700);
      await one.release(permit);
      await one.release(permit);
      await one.settle(permit, 900);
      expect(await counts()).toEqual({ requests: 0, minuteTokens: 0, dayTokens: 0 });
      expect(countAdmitted(await admitAtOnce(instances, entry, limits, times(5)))).toBe(2);
    });

    it('never makes a counter negative when its item was deleted meanwhile', async () => {
      const permit = await take(one, limits, 300);
      const another = await take(one, limits, 300);
      await test.store.delete('limits', `provider#acme#${entry.model}#0`);
      await one.release(permit);
      expect(await itemOf()).toBeUndefined();
      await take(other, limits, 100);
      await one.release(another);
      expect(await counts()).toEqual({ requests: 1, minuteTokens: 100, dayTokens: 100 });
    });

    it('makes an item that expires when a day and the day after are over', async () => {
      await one.admit(entry, limits, { tokens: 1, requests: 1 });
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
    const digits = (value: unknown) =>
      value instanceof Set ? 7 * value.size : Math.ceil(String(value).length / 2) + 1;
    const bytes = Object.entries((await itemOf()) ?? {}).reduce(
      (sum, [name, value]) => sum + name.length + digits(value),
      0,
    );
    expect(bytes).toBeLessThan(1_024);
  });

  describe('an admission', () => {
    const limits = { rpm: 10, tpm: 10_000, tpd: 100_000 };
    const countingLimiter = () => {
      const { store, calls } = countingCalls(test.store);
      const limiter = startLimiter(store, clock);
      /** Returns the store calls of one admission. */
      const cost = async (tokens = 100) => {
        const before = { ...calls };
        const { kind } = await limiter.admit(entry, limits, { tokens, requests: 1 });
        return { kind, reads: calls.reads - before.reads, writes: calls.writes - before.writes };
      };
      return { calls, limiter, cost };
    };

    it('is one write on a warm instance, and one read if it is refused', async () => {
      const { cost } = countingLimiter();
      expect(await cost()).toEqual({ kind: 'admitted', reads: 1, writes: 1 });
      for (let call = 1; call <= 9; call += 1) expect(await cost()).toEqual({ kind: 'admitted', reads: 0, writes: 1 });
      expect(await cost()).toEqual({ kind: 'limited', reads: 1, writes: 0 });
    });

    it('needs one more write to be settled, and none if no tokens are limited or the estimate was right', async () => {
      const { limiter, calls } = countingLimiter();
      const permit = permitOf(await limiter.admit(entry, limits, { tokens: 100, requests: 1 }));
      const before = { ...calls };
      await limiter.settle(permit, 70);
      expect(calls.writes - before.writes).toBe(1);
      await limiter.settle(permitOf(await limiter.admit(entry, limits, { tokens: 100, requests: 1 })), 100);
      await limiter.settle(
        permitOf(await limiter.admit({ ...entry, provider: 'b' }, { ...noLimits, rpm: 5 }, { tokens: 9, requests: 1 })),
        900,
      );
      expect(calls.writes - before.writes).toBe(1 + 1 + 1);
    });
  });

  describe('an entry with shards', () => {
    /** This limit needs three shards of 30,000 requests. */
    const limits = { ...noLimits, rpm: 90_000 };
    const choosing = (...fractions: number[]): Randomness => ({
      ...firstShard,
      fraction: () => fractions.shift() ?? 0,
    });
    const fill = (shard: number, requests: number) => {
      const part = (clock.nowMs() / 1_000).toString(36);
      const key = `provider#acme#${entry.model}#${shard}`;
      return test.store.put({
        table: 'limits',
        item: { pk: key, requests_total: requests, [`R${part}`]: requests, [`L${part}`]: 0 },
      });
    };

    it('counts a call in one of them, by chance', async () => {
      permitOf(await startOne(clock, test.store, choosing(0.4)).admit(entry, limits, { tokens: 1, requests: 1 }));
      permitOf(await startOne(clock, test.store, choosing(0.999)).admit(entry, limits, { tokens: 1, requests: 1 }));
      expect(await Promise.all([0, 1, 2].map(requestsOf))).toEqual([0, 1, 1]);
    });

    it('tries one other shard when the first is full, and says the shorter wait when both are', async () => {
      await fill(0, 30_000);
      clock.advance(5_000);
      await fill(1, 30_000);
      permitOf(await startOne(clock, test.store, choosing(0, 0.5)).admit(entry, limits, { tokens: 1, requests: 1 }));
      expect(await requestsOf(2)).toBe(1);
      const { store, calls } = countingCalls(test.store);
      const limiter = startOne(clock, store, choosing(0.4, 0.5));
      expect(waitOf(await limiter.admit(entry, limits, { tokens: 1, requests: 1 }))).toBe(55_000);
      expect(calls).toEqual({ reads: 2, writes: 0 });
      expect(await requestsOf(2)).toBe(1);
    });
  });

  describe('a store that fails', () => {
    const limits = { rpm: 10, tpm: 1_000, tpd: null };

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
        const permit = permitOf(await limiter.admit(entry, limits, { tokens: 500, requests: 1 }));
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
      await expect(losing.admit(entry, { ...noLimits, rpm: 1 }, { tokens: 1, requests: 1 })).rejects.toThrow(
        StoreUnavailable,
      );
      const sound = startOne();
      expect((await sound.admit(entry, { ...noLimits, rpm: 1 }, { tokens: 1, requests: 1 })).kind).toBe('limited');
      clock.advance(60_000);
      expect((await sound.admit(entry, { ...noLimits, rpm: 1 }, { tokens: 1, requests: 1 })).kind).toBe('admitted');
    });
  });

  // Random calls of several instances with skewed clocks, many at once, compared with a plain ledger: after every write
  // that takes something the limit holds, and the item counts exactly what was taken.
  describe('the limits of a provider', () => {
    let test: TestStore;
    beforeAll(async () => {
      test = await start();
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
      {
        letter: 'T',
        last: 'L',
        total: 'minute_tokens_total',
        lengthMs: minuteMs,
        correctableMs: minuteMs,
        limitOf: 'tpm',
      },
      { letter: 'D', last: 'E', total: 'day_tokens_total', lengthMs: dayMs, correctableMs: dayMs, limitOf: 'tpd' },
    ] as const;

    /** Returns the usage in an item at a moment: the parts whose last call was within the length of the window. */
    const usedIn = (item: Item, { letter, last, lengthMs }: (typeof windows)[number], nowMs: number): number =>
      Object.entries(item)
        .filter(([name]) => name.startsWith(letter))
        .filter(([name]) => {
          const startMs = Number.parseInt(name.slice(1), 36) * 1_000;
          return startMs + Number(item[`${last}${name.slice(1)}`]) + lengthMs > nowMs;
        })
        .reduce((sum, [, count]) => sum + Number(count), 0);

    /** Checks the item after each write that took something, by the clock of the instance that wrote it. */
    function watching(store: Store, clock: Clock, limits: EntryLimits): Store {
      return {
        ...store,
        async update(update, options) {
          const askedAtMs = clock.nowMs();
          const result = await store.update(update, options);
          const { item } = result;
          // Only a write that takes something sets the item's date.
          const takes = update.changes.set?.expires_at_epoch_seconds !== undefined;
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

    /**
     * The final counts of one permit. The bounds are equal, except if clocks decide whether its correction still
     * counts.
     */
    interface Counted {
      readonly permit: Permit;
      readonly least: number[];
      readonly most: number[];
    }

    /** Runs all rounds; the actions of a round run at once. */
    async function play(limits: EntryLimits, rounds: readonly Round[], model: string): Promise<void> {
      const clock = manualClock();
      const clocks = skewsMs.map((byMs) => skewed(clock, byMs));
      const instances = clocks.map((clock) => startLimiter(watching(test.store, clock, limits), clock));
      const ledger: Counted[] = [];
      const open: { counted: Counted; owner: ProviderLimiter; clock: Clock }[] = [];
      const amountsOf = ({ demands }: Permit): number[] =>
        windows.map((window) =>
          Number(demands.find(({ window: of }) => of.totalAttribute === window.total)?.amount ?? 0n),
        );

      async function admit(instance: number, tokens: number): Promise<void> {
        const owner = instances[instance] as ProviderLimiter;
        const admission = await owner.admit({ provider: 'acme', model }, limits, { tokens, requests: 1 });
        if (admission.kind === 'limited') return expect(admission.retryAfterMs).toBeGreaterThan(0);
        const { permit } = admission;
        const counted = { permit, least: amountsOf(permit), most: amountsOf(permit) };
        ledger.push(counted);
        open.push({ counted, owner, clock: clocks[instance] as Clock });
      }

      async function close({ counted, owner, clock }: (typeof open)[number], tokens: number): Promise<void> {
        const isGivenBack = tokens % 3 === 0;
        const before = amountsOf(counted.permit);
        windows.forEach(({ limitOf, letter, correctableMs }, index) => {
          if (limits[limitOf] === null) return;
          const after = isGivenBack ? 0 : letter === 'R' ? (before[index] ?? 0) : tokens;
          const leftMs = counted.permit.countedAtMs + correctableMs - clock.nowMs();
          // A part lasts up to two hours, and the time for corrections counts from its beginning.
          const [surelyMs, noMoreMs] = letter === 'D' ? [7_200_000, 0] : [5_000 + 2 * skewMaxMs, -2 * skewMaxMs];
          const outcomes =
            leftMs > surelyMs ? [after] : leftMs < noMoreMs ? [before[index] ?? 0] : [after, before[index] ?? 0];
          counted.least[index] = Math.min(...outcomes);
          counted.most[index] = Math.max(...outcomes);
        });
        await (isGivenBack ? owner.release(counted.permit) : owner.settle(counted.permit, tokens));
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
          const sum = (of: 'least' | 'most') => ledger.reduce((all, one) => all + (one[of][index] ?? 0), 0);
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
  });
});
