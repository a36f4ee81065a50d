import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { callsAsCsv } from '../../../functions/operator/reports/serve-calls.ts';
import { inTurn } from '../../../functions/operator/request/in-turn.ts';
import { type CallRecord, callPosition } from '../../../shared/accounting/call-records/index.ts';
import {
  matchesFilter,
  readCallPage,
  readOverview,
  summarizeUsage,
  usageGroupings,
} from '../../../shared/accounting/reports/index.ts';
import { shareOf } from '../../../shared/accounting/reports/usage-shares.ts';
import { createUsageGroups } from '../../../shared/accounting/reports/usage-summary.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import { callRecord } from '../../support/call-record.ts';

const count = fc.nat({ max: 1_000_000_000 });
const arbitraryRecord: fc.Arbitrary<CallRecord> = fc
  .record({
    modelAsked: fc.constantFrom('auto', 'acme/large-1', '__proto__'),
    modelServed: fc.constantFrom('acme/large-1', 'apex/small', 'constructor', undefined),
    provider: fc.constantFrom('acme', 'apex', undefined),
    keyPublicId: fc.constantFrom('key-1', 'key-2'),
    arrivedAtMs: fc.integer({ min: 1_795_000_000_000, max: 1_795_400_000_000 }),
    outcome: fc.constantFrom('ok' as const, 'cut' as const, 'rate_limited' as const),
    attempts: fc.nat({ max: 5 }),
    promptTokens: count,
    cachedTokens: count,
    completionTokens: count,
    estimated: fc.boolean(),
    cacheHit: fc.boolean(),
    isByok: fc.boolean(),
    costPicoUsd: fc.bigInt({ min: 0n, max: 10n ** 30n }),
  })
  .map(callRecord);

const sumOf = <Value>(items: readonly Value[], read: (item: Value) => bigint): bigint =>
  items.reduce((sum, item) => sum + read(item), 0n);

describe('a usage summary', () => {
  it.each(usageGroupings)('by %s adds up to exactly what the records hold, to the last pico-USD', async (by) => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryRecord, { maxLength: 40 }), async (records) => {
        const rows = (await summarizeUsage(records, by)).groups;
        const byok = records.filter(({ isByok }) => isByok);
        expect(sumOf(rows, (row) => row.costPicoUsd)).toBe(sumOf(records, (record) => record.costPicoUsd));
        expect(sumOf(rows, (row) => row.byokCostPicoUsd)).toBe(sumOf(byok, (record) => record.costPicoUsd));
        for (const member of ['attempts', 'promptTokens', 'cachedTokens', 'completionTokens'] as const) {
          expect(sumOf(rows, (row) => row[member])).toBe(sumOf(records, (record) => BigInt(record[member])));
        }
        const countWhere = (read: (record: CallRecord) => boolean) => BigInt(records.filter(read).length);
        expect(sumOf(rows, (row) => BigInt(row.calls))).toBe(countWhere(() => true));
        expect(sumOf(rows, (row) => BigInt(row.okCalls))).toBe(countWhere(({ outcome }) => outcome === 'ok'));
        expect(sumOf(rows, (row) => BigInt(row.cacheHits))).toBe(countWhere(({ cacheHit }) => cacheHit));
        expect(sumOf(rows, (row) => BigInt(row.estimatedCalls))).toBe(countWhere(({ estimated }) => estimated));
        expect(new Set(rows.map(({ group }) => group)).size).toBe(rows.length);
      }),
    );
  });

  it.each([
    ['user', { user: 'u-7' }, 'u-7'],
    ['title', { title: 'Agent' }, 'Agent'],
    ['workspace', { workspace: 'other' }, 'other'],
    ['function', { functionId: 'report' }, 'report'],
    ['key', { keyPublicId: 'key-2' }, 'key-2'],
  ] as const)('by %s names what a call has of it, and puts the rest apart', async (by, fields, group) => {
    const records = [callRecord({}), callRecord(fields), callRecord(fields)];
    const { groups } = await summarizeUsage(records, by);
    expect(groups.map((one) => [one.group === group, one.calls])).toContainEqual([true, 2]);
    expect(groups).toHaveLength(2);
  });

  it('does not depend on the order of the records', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitraryRecord, { maxLength: 40 }),
        fc.constantFrom(...usageGroupings),
        async (records, by) => {
          expect(await summarizeUsage(records.toReversed(), by)).toEqual(await summarizeUsage(records, by));
        },
      ),
    );
  });

  it('by provider counts each attempt at the provider that was called, and all else at the one that answered', async () => {
    const attemptLog = [
      { provider: 'globex', outcome: 'status_500', status: 500, ms: 3 },
      { provider: 'globex', outcome: 'timeout', ms: 9 },
      { provider: 'acme', outcome: 'ok', status: 200, ms: 5 },
    ];
    const rescued = callRecord({ attempts: 3, attemptLog, costPicoUsd: 7n });
    const refusedRecord = callRecord({
      modelServed: undefined,
      provider: undefined,
      outcome: 'no_available_provider',
      attempts: 1,
      attemptLog: attemptLog.slice(0, 1),
      costPicoUsd: 0n,
    });
    const { groups: rows } = await summarizeUsage([rescued, refusedRecord], 'provider');
    expect(rows.map((row) => [row.group, row.calls, row.attempts, row.failedAttempts, row.costPicoUsd])).toEqual([
      [null, 1, 0n, 0n, 0n],
      ['acme', 1, 1n, 0n, 7n],
      ['globex', 0, 3n, 3n, 0n],
    ]);
  });

  it('by model and by provider gives each what it answered, of a workflow and of a call that got no result', async () => {
    const other = { model: 'apex/small', provider: 'apex', promptTokens: 200, cachedTokens: 0, completionTokens: 50 };
    const workflow = callRecord({
      functionId: 'report',
      modelAsked: 'gw/function/report',
      attempts: 3,
      attemptCauses: ['timeout'],
      attemptLog: [
        { provider: 'globex', outcome: 'timeout', ms: 90, model: 'acme/large-1' },
        { provider: 'apex', outcome: 'ok', status: 200, ms: 5, model: 'apex/small' },
        { provider: 'acme', outcome: 'ok', status: 200, ms: 7, model: 'acme/large-1' },
      ],
      costPicoUsd: 100n,
      otherShares: [{ ...other, costPicoUsd: 30n }],
    });
    const failed = {
      ...workflow,
      modelServed: undefined,
      provider: undefined,
      outcome: 'execution_failed' as const,
      promptTokens: 200,
      cachedTokens: 0,
      completionTokens: 50,
      costPicoUsd: 30n,
      attemptLog: workflow.attemptLog?.slice(0, 2),
    };
    const rowsBy = async (by: 'model' | 'provider' | 'function') => {
      const { groups, total } = await summarizeUsage([workflow, failed], by);
      expect([total.calls, total.costPicoUsd, total.promptTokens]).toEqual([2, 130n, 1400n]);
      return groups.map((row) => [
        row.group,
        row.calls,
        row.okCalls,
        row.attempts,
        row.failedAttempts,
        row.promptTokens,
        row.completionTokens,
        row.costPicoUsd,
      ]);
    };
    expect(await rowsBy('model')).toEqual([
      ['acme/large-1', 1, 1, 3n, 2n, 1000n, 300n, 70n],
      ['apex/small', 2, 1, 2n, 0n, 400n, 100n, 60n],
    ]);
    expect(await rowsBy('provider')).toEqual([
      ['acme', 1, 1, 1n, 0n, 1000n, 300n, 70n],
      ['apex', 2, 1, 2n, 0n, 400n, 100n, 60n],
      ['globex', 0, 0, 2n, 2n, 0n, 0n, 0n],
    ]);
    expect(await rowsBy('function')).toEqual([['report', 2, 1, 6n, 2n, 1400n, 400n, 130n]]);
  });

  it('puts calls that were refused before any model was called together, whatever they name as their model', async () => {
    const refusedRecord = (modelAsked: string) =>
      callRecord({
        modelAsked,
        modelServed: undefined,
        provider: undefined,
        outcome: 'unknown_model',
        attempts: 0,
        attemptLog: [],
      });
    const { groups } = await summarizeUsage([refusedRecord('a'), refusedRecord('b')], 'model');
    expect(groups.map(({ group, calls, okCalls }) => [group, calls, okCalls])).toEqual([[null, 2, 0]]);
  });

  it('has the middle and the slowest of the calls that were answered, and of attempts by provider', async () => {
    const answeredRecords = Array.from({ length: 100 }, (_none, index) =>
      callRecord({
        totalMs: (index + 1) * 10,
        firstOutputMs: index + 1,
        attemptLog: [{ provider: 'acme', outcome: 'ok', status: 200, ms: index }],
      }),
    );
    const others = [
      callRecord({ outcome: 'no_available_provider', totalMs: 1 }),
      callRecord({ cacheHit: true, totalMs: 2 }),
      callRecord({ replayOf: 'first', totalMs: 3 }),
    ];
    const { groups, total } = await summarizeUsage([...answeredRecords.toReversed(), ...others], 'key');
    const percentiles = { latencyMs: { p50: 500, p95: 950 }, firstOutputMs: { p50: 50, p95: 95 } };
    expect([groups[0], total]).toMatchObject([percentiles, percentiles]);
    expect((await summarizeUsage(answeredRecords, 'provider')).groups).toMatchObject([
      { group: 'acme', latencyMs: { p50: 49, p95: 94 }, firstOutputMs: { p50: 50, p95: 95 } },
    ]);
    expect((await summarizeUsage(others.slice(0, 1), 'key')).total.latencyMs).toEqual({
      p50: undefined,
      p95: undefined,
    });
  });

  it('keeps durations of any length in bounded memory: exact below ten seconds, to four digits beyond', () => {
    const percentilesOf = (latenciesMs: readonly number[]) => {
      const groups = createUsageGroups((call) => [{ ...shareOf(call, null), latenciesMs }]);
      groups.add(callRecord({}));
      return groups.summaryOf(null).latencyMs;
    };
    expect(percentilesOf([8_999, 9_999])).toEqual({ p50: 8_999, p95: 9_999 });
    expect(percentilesOf([10_004, 10_007])).toEqual({ p50: 10_000, p95: 10_010 });
    expect(percentilesOf([123_449, 123_451])).toEqual({ p50: 123_400, p95: 123_500 });
    const durations = Array.from({ length: 90_000 }, (_, tenth) => 10 * tenth);
    expect(percentilesOf(durations)).toEqual({ p50: 450_000, p95: 855_000 });
  });

  it('puts a call to the UTC day of its arrival', async () => {
    const midnightMs = Date.parse('2026-11-20T00:00:00Z');
    const around = [midnightMs - 1, midnightMs].map((arrivedAtMs) => callRecord({ arrivedAtMs }));
    const { groups: rows } = await summarizeUsage(around, 'day');
    expect(rows.map(({ group }) => group)).toEqual(['2026-11-19', '2026-11-20']);
  });
});

describe('calls and overviews', () => {
  const nowMs = Date.parse('2026-11-20T12:00:00Z');
  const hourMs = 3_600_000;
  const dayMs = 24 * hourMs;

  /** Returns a UUIDv7 of this moment. */
  const idAt = (epochMs: number, number: number): string => {
    const time = epochMs.toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
  };

  /** Returns a table with calls at these times; it counts what is read from it. */
  function tableOf(times: readonly number[], more: (at: number) => Partial<CallRecord> = () => ({})) {
    const calls = times.map((arrivedAtMs, at) =>
      callRecord({ arrivedAtMs, executionId: idAt(arrivedAtMs, at), ...more(at) }),
    );
    const counts = { calls: 0, days: 0 };
    const byDay = Map.groupBy(calls, ({ arrivedAtMs }) => Math.floor(arrivedAtMs / dayMs));
    return {
      calls,
      counts,
      records: {
        async *read(_workspace: string, day: string, { sinceMs = 0, beforeMs = Infinity } = {}) {
          counts.days += 1;
          for (const call of byDay.get(Date.parse(day) / dayMs) ?? []) {
            if (call.arrivedAtMs < sinceMs || call.arrivedAtMs >= beforeMs) continue;
            counts.calls += 1;
            yield call;
          }
        },
      },
    };
  }

  const steadily = (count: number, everyMs: number) =>
    Array.from({ length: count }, (_none, at) => nowMs - 1 - at * everyMs);
  const range = (table: ReturnType<typeof tableOf>, sinceMs: number) => ({
    records: table.records,
    workspaces: ['team-a'],
    sinceMs,
  });
  const all = () => true;

  describe('the calls of a provider', () => {
    it('are those with an attempt there: a replay, or an answer from the cache, called none', () => {
      const at = (outcome: 'ok' | 'timeout', provider: string) => ({ provider, outcome, status: 200, ms: 1 });
      const matches = (record: Partial<CallRecord>) => matchesFilter(callRecord(record), { provider: 'acme' });
      expect(matches({ provider: 'globex', attemptLog: [at('timeout', 'acme'), at('ok', 'globex')] })).toBe(true);
      expect(matches({ provider: 'acme', attemptLog: [] })).toBe(false);
      expect(matches({ provider: 'acme', attemptLog: undefined })).toBe(true);
      expect(matches({ provider: 'globex', attemptLog: [at('ok', 'globex')] })).toBe(false);
    });
  });

  describe('a page of calls', () => {
    it('reads no further back than it needs, however many calls are older', async () => {
      const table = tableOf(steadily(30_000, 60_000));
      const page = await readCallPage({ ...range(table, nowMs - 90 * dayMs), nowMs, limit: 50, matches: all });
      expect(page.calls.map(callPosition)).toEqual(table.calls.slice(0, 50).map(callPosition));
      expect(page.next).toBe(callPosition(table.calls[49] as CallRecord));
      expect(table.counts.calls).toBeLessThan(500);
    });

    it('is one of many if all are asked for as CSV', async () => {
      const table = tableOf(steadily(1_500, 60_000));
      const { text, headers } = await callsAsCsv({ ...range(table, nowMs - 90 * dayMs), nowMs, matches: all });
      const [head, ...lines] = text.trimEnd().split('\r\n');
      expect(head).toMatch(/^created_at,id,/);
      const times = table.calls.map(({ arrivedAtMs }) => `"${new Date(arrivedAtMs).toISOString()}"`);
      expect(lines.map((line) => line.split(',')[0])).toEqual(times);
      expect(headers).not.toHaveProperty('x-next-cursor');
    });

    it('of a busy minute is found without reading the hour', async () => {
      const table = tableOf(steadily(40_000, 5));
      const page = await readCallPage({ ...range(table, nowMs - dayMs), nowMs, limit: 10, matches: all });
      expect(page.calls.map(callPosition)).toEqual(table.calls.slice(0, 10).map(callPosition));
      // The first windows have too many calls, so they are cut, and little of them is read.
      expect(table.counts.calls).toBeLessThan(1_500);
    });

    it('that finds nothing stops at its bound, says where to go on, and the next ones reach the end', async () => {
      const table = tableOf(steadily(30_000, 60_000), (at) => ({ keyName: at === 29_999 ? 'oldest' : 'other' }));
      const matches = ({ keyName }: CallRecord) => keyName === 'oldest';
      const found: CallRecord[] = [];
      let before: string | undefined;
      let pages = 0;
      do {
        const readBefore = table.counts.calls;
        const page = await readCallPage({ ...range(table, nowMs - 90 * dayMs), nowMs, limit: 50, matches, before });
        expect(table.counts.calls - readBefore).toBeLessThan(7_000);
        found.push(...page.calls);
        before = page.next;
        pages += 1;
      } while (before !== undefined && pages < 40);
      expect(found.map(({ keyName }) => keyName)).toEqual(['oldest']);
      expect(pages).toBeGreaterThan(1);
    });

    it('of a second, or a season of many workspaces, in which more happened than one may read stops at its bound too', async () => {
      const second = tableOf(Array.from({ length: 30_000 }, (_none, at) => nowMs - 1 - (at % 900)));
      const busy = await readCallPage({ ...range(second, nowMs - dayMs), nowMs, limit: 50, matches: () => false });
      expect(busy).toEqual({ calls: [], next: expect.stringMatching(/^2026-11-20T11:59:59/) });
      expect(second.counts.calls).toBeLessThan(9_000);
      const minutesAgo = (count: number, from: number, to: number) =>
        Array.from({ length: count }, (_none, at) => nowMs - (from + ((to - from) * at) / count) * 60_000);
      const quietAtFirst = tableOf([
        ...minutesAgo(20, 1, 20),
        ...minutesAgo(3_900, 26, 104),
        ...minutesAgo(15_000, 106, 184),
      ]);
      await readCallPage({ ...range(quietAtFirst, nowMs - dayMs), nowMs, limit: 50, matches: () => false });

      expect(quietAtFirst.counts.calls).toBeLessThan(9_000);
      const season = tableOf([nowMs - 80 * dayMs]);
      const workspaces = Array.from({ length: 10 }, (_none, at) => `w${at}`);
      const query = { ...range(season, nowMs - 90 * dayMs), workspaces, nowMs, limit: 50, matches: all };
      const quiet = await readCallPage(query);
      expect([quiet.calls, quiet.next]).toEqual([[], expect.stringMatching(/^2026-1/)]);
      expect(season.counts.days).toBeLessThan(600);
    });

    it('is read after the calls of clients: of few days at a time, and others have their turn in between', async () => {
      const table = tableOf(steadily(2_000, 60_000));
      let [running, most, turns] = [0, 0, 0];
      let isOver = false;
      const records: typeof table.records = {
        async *read(...args) {
          running += 1;
          most = Math.max(most, running);
          await nextTurn();
          yield* table.records.read(...args);
          running -= 1;
        },
      };
      const others = (async () => {
        for (; !isOver; turns += 1) await nextTurn();
      })();
      const workspaces = Array.from({ length: 5 }, (_none, at) => `w${at}`);
      const query = { ...range(table, nowMs - dayMs), records, workspaces };
      await readCallPage({ ...query, nowMs, limit: 50, matches: () => false });
      isOver = true;
      await others;
      expect(most).toBe(2);
      expect(turns).toBeGreaterThan(table.counts.calls / 200);
    });

    it('leaves out and repeats no call if several came in one millisecond', async () => {
      const table = tableOf([...Array(7).fill(nowMs - 5), ...Array(7).fill(nowMs - 4)]);
      const seenIds: string[] = [];
      let before: string | undefined;
      do {
        const page = await readCallPage({ ...range(table, nowMs - hourMs), nowMs, limit: 3, matches: all, before });
        seenIds.push(...page.calls.map(callPosition));
        before = page.next;
      } while (before !== undefined);
      expect(seenIds).toEqual(table.calls.map(callPosition).toSorted().reverse());
    });
  });

  describe('an overview', () => {
    it('counts its calls while they are read, so that others have their turn in between', async () => {
      const table = tableOf(steadily(9_000, 1_000));
      let [looks, most] = [0, 0];
      for (const call of table.calls) {
        const { keyPublicId } = call;
        const look = () => {
          looks += 1;
          return keyPublicId;
        };
        Object.defineProperty(call, 'keyPublicId', { get: look });
      }
      let isOver = false;
      const others = (async () => {
        while (!isOver) {
          most = Math.max(most, looks);
          looks = 0;
          await nextTurn();
        }
        most = Math.max(most, looks);
      })();
      const { total, byKey } = await readOverview({ ...range(table, nowMs - dayMs), beforeMs: nowMs });
      isOver = true;
      await others;
      expect([total.calls, ...byKey.map(({ calls }) => calls)]).toEqual([9_000, 9_000]);

      expect(most).toBeLessThan(2_000);
    });

    it('of more calls than it may count says from when on all are counted, and counts exactly those', async () => {
      const table = tableOf(steadily(70_000, 2_000));
      const overview = await readOverview({ ...range(table, nowMs - 2 * dayMs), beforeMs: nowMs + 1 });
      expect(overview.isComplete).toBe(false);
      expect(overview.countedSinceMs).toBeGreaterThan(nowMs - 2 * dayMs);
      expect(overview.total.calls).toBe(
        table.calls.filter(({ arrivedAtMs }) => arrivedAtMs >= overview.countedSinceMs).length,
      );
      expect(overview.total.calls).toBeGreaterThanOrEqual(50_000);
      expect(overview.total.calls).toBeLessThan(70_000);
    });

    it('names the two hundred most expensive values of a tag, and adds all others up as one', async () => {
      const table = tableOf(steadily(600, 1_000), (at) => ({
        tags: { job: `job-${at % 300}` },
        costPicoUsd: BigInt(at % 300),
        totalMs: at % 300 < 100 ? 7 : 9,
      }));
      const { byTag, otherTags, total } = await readOverview(
        { ...range(table, nowMs - dayMs), beforeMs: nowMs },
        'job',
      );
      expect(byTag?.map(({ group }) => group)).toEqual(Array.from({ length: 200 }, (_none, at) => `job-${299 - at}`));
      expect(otherTags).toMatchObject({ group: null, calls: 200, okCalls: 200, latencyMs: { p50: 7, p95: 7 } });
      const sum = [...(byTag ?? []), otherTags].reduce((all, one) => all + (one?.costPicoUsd ?? 0n), 0n);
      expect(sum).toBe(total.costPicoUsd);
      const few = await readOverview({ ...range(table, nowMs - 100_000), beforeMs: nowMs }, 'job');
      expect([few.byTag?.length, few.otherTags]).toEqual([100, undefined]);
    });

    it('of a quiet time has every hour, and looks at no more days than there are', async () => {
      const table = tableOf([nowMs - 1, nowMs - 5 * hourMs]);
      const overview = await readOverview({ ...range(table, nowMs - dayMs), beforeMs: nowMs + 1 });
      expect([
        overview.isComplete,
        overview.series.length,
        overview.series.map(({ calls }) => calls).filter(Boolean),
      ]).toEqual([true, 25, [1, 1]]);
      expect(table.counts.days).toBeLessThan(12);
    });

    it('of many workspaces stops after so many of their days', async () => {
      const table = tableOf([nowMs - 1]);
      const workspaces = Array.from({ length: 1_000 }, (_none, at) => `w${at}`);
      const overview = await readOverview({ ...range(table, nowMs - 90 * dayMs), workspaces, beforeMs: nowMs + 1 });
      expect(overview.isComplete).toBe(false);
      expect(table.counts.days).toBeLessThan(6_000);
    });
  });

  it('of several reports that are asked for at once each begins when the last has ended, even if that failed', async () => {
    let [running, most, runCount] = [0, 0, 0];
    const work = inTurn(async () => {
      running += 1;
      most = Math.max(most, running);
      await nextTurn();
      running -= 1;
      runCount += 1;
      if (runCount === 1) throw new Error('the store is unavailable');
      return { status: 200, body: {} };
    });
    const runs = Array.from({ length: 3 }, () => work(...([] as unknown as Parameters<typeof work>)));
    const ended = await Promise.allSettled(runs);
    expect([most, ...ended.map(({ status }) => status)]).toEqual([1, 'rejected', 'fulfilled', 'fulfilled']);
  });
});
