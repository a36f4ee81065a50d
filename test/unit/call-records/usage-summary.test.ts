import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { type CallRecord, summarizeUsage, usageGroupings } from '../../../shared/accounting/call-records/index.ts';
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
        const rows = await summarizeUsage(records, by);
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

  it('groups by the model that answered, else by the one asked for', async () => {
    const refused = callRecord({ modelServed: undefined, provider: undefined, outcome: 'no_available_provider' });
    const rows = await summarizeUsage([callRecord(), refused, callRecord()], 'model');
    expect(rows.map(({ group, calls, okCalls }) => [group, calls, okCalls])).toEqual([
      ['acme/large-1', 2, 2],
      ['auto', 1, 0],
    ]);
    const byProvider = await summarizeUsage([callRecord(), refused], 'provider');
    expect(byProvider.map(({ group }) => group)).toEqual([null, 'acme']);
  });

  it('by provider counts each attempt at the provider that was called, and all else at the one that answered', async () => {
    const attemptLog = [
      { provider: 'globex', outcome: 'status_500', status: 500, ms: 3 },
      { provider: 'globex', outcome: 'timeout', ms: 9 },
      { provider: 'acme', outcome: 'ok', status: 200, ms: 5 },
    ];
    const rescued = callRecord({ attempts: 3, attemptLog, costPicoUsd: 7n });
    const refused = callRecord({
      modelServed: undefined,
      provider: undefined,
      outcome: 'no_available_provider',
      attempts: 1,
      attemptLog: attemptLog.slice(0, 1),
      costPicoUsd: 0n,
    });
    const rows = await summarizeUsage([rescued, refused], 'provider');
    expect(rows.map((row) => [row.group, row.calls, row.attempts, row.failedAttempts, row.costPicoUsd])).toEqual([
      [null, 1, 0n, 0n, 0n],
      ['acme', 1, 1n, 0n, 7n],
      ['globex', 0, 3n, 3n, 0n],
    ]);
  });

  it('groups by workspace, user and title as they were sent', async () => {
    const records = [callRecord(), callRecord({ workspace: 'team-b', user: 'u-1', title: 'Chat' })];
    const groupsBy = async (by: 'workspace' | 'user' | 'title') =>
      (await summarizeUsage(records, by)).map(({ group, calls }) => [group, calls]);
    expect(await groupsBy('workspace')).toEqual([
      ['team-a', 1],
      ['team-b', 1],
    ]);
    expect(await groupsBy('user')).toEqual([
      [null, 1],
      ['u-1', 1],
    ]);
    expect(await groupsBy('title')).toEqual([
      [null, 1],
      ['Chat', 1],
    ]);
  });

  it('puts a call to the UTC day of its arrival', async () => {
    const midnightMs = Date.parse('2026-11-20T00:00:00Z');
    const around = [midnightMs - 1, midnightMs].map((arrivedAtMs) => callRecord({ arrivedAtMs }));
    const rows = await summarizeUsage(around, 'day');
    expect(rows.map(({ group }) => group)).toEqual(['2026-11-19', '2026-11-20']);
  });

  it('takes records as they are read, and of none makes none', async () => {
    async function* reading(): AsyncGenerator<CallRecord> {
      yield callRecord({ costPicoUsd: 1n });
      yield callRecord({ costPicoUsd: 2n, isByok: true });
    }
    expect(await summarizeUsage(reading(), 'key')).toMatchObject([
      { group: 'abcdefghij012345', calls: 2, costPicoUsd: 3n, byokCostPicoUsd: 2n },
    ]);
    expect(await summarizeUsage([], 'key')).toEqual([]);
  });
});
