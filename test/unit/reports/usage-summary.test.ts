import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { CallRecord } from '../../../shared/accounting/call-records/index.ts';
import { addDuration, type Durations, percentileOf } from '../../../shared/accounting/reports/durations.ts';
import { summarizeUsage, usageGroupings } from '../../../shared/accounting/reports/index.ts';
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
        const counted = (read: (record: CallRecord) => boolean) => BigInt(records.filter(read).length);
        expect(sumOf(rows, (row) => BigInt(row.calls))).toBe(counted(() => true));
        expect(sumOf(rows, (row) => BigInt(row.okCalls))).toBe(counted(({ outcome }) => outcome === 'ok'));
        expect(sumOf(rows, (row) => BigInt(row.cacheHits))).toBe(counted(({ cacheHit }) => cacheHit));
        expect(sumOf(rows, (row) => BigInt(row.estimatedCalls))).toBe(counted(({ estimated }) => estimated));
        expect(new Set(rows.map(({ group }) => group)).size).toBe(rows.length);
      }),
    );
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
    const refused = (modelAsked: string) =>
      callRecord({
        modelAsked,
        modelServed: undefined,
        provider: undefined,
        outcome: 'unknown_model',
        attempts: 0,
        attemptLog: [],
      });
    const { groups } = await summarizeUsage([refused('a'), refused('b')], 'model');
    expect(groups.map(({ group, calls, okCalls }) => [group, calls, okCalls])).toEqual([[null, 2, 0]]);
  });

  it('has the middle and the slowest of the calls that were answered, and of attempts by provider', async () => {
    const answered = Array.from({ length: 100 }, (_none, index) =>
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
    const { groups, total } = await summarizeUsage([...answered.toReversed(), ...others], 'key');
    const percentiles = { latencyMs: { p50: 500, p95: 950 }, firstOutputMs: { p50: 50, p95: 95 } };
    expect([groups[0], total]).toMatchObject([percentiles, percentiles]);
    expect((await summarizeUsage(answered, 'provider')).groups).toMatchObject([
      { group: 'acme', latencyMs: { p50: 49, p95: 94 }, firstOutputMs: { p50: 50, p95: 95 } },
    ]);
    expect((await summarizeUsage(others.slice(0, 1), 'key')).total.latencyMs).toEqual({
      p50: undefined,
      p95: undefined,
    });
  });

  it('keeps durations of any length in bounded memory, exact below ten seconds', async () => {
    const durations: Durations = new Map();
    for (let ms = 0; ms < 900_000; ms += 1) addDuration(durations, ms);
    expect(durations.size).toBeLessThan(30_000);
    expect(percentileOf(durations, 0.01)).toBe(8_999);
    expect(percentileOf(durations, 0.5)).toBe(450_000);
  });

  it('puts a call to the UTC day of its arrival', async () => {
    const midnightMs = Date.parse('2026-11-20T00:00:00Z');
    const around = [midnightMs - 1, midnightMs].map((arrivedAtMs) => callRecord({ arrivedAtMs }));
    const { groups: rows } = await summarizeUsage(around, 'day');
    expect(rows.map(({ group }) => group)).toEqual(['2026-11-19', '2026-11-20']);
  });
});
