// What one call costs at the store: how often it waits for it, one round after the other, its requests, and the units that
// DynamoDB bills. Every request to the store takes 5 ms longer than it does, so that rounds can be told apart.

import type { BenchPlan } from '../bench-options.ts';
import { type Call, createClient, functionBody, jsonBody, sendOne, streamBody } from '../measuring-client.ts';
import { atMost, median, type SectionReport } from '../report.ts';
import { type BenchKeys, limitedCall, models } from '../test-bed/bench-file.ts';
import { costColumns, costOf, flushMs } from '../test-bed/measured-calls.ts';
import type { StoreRequest } from '../test-bed/store-proxy.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const delayMs = 5;
/** Longer than a request with its delay: a call has ended when none was made for this long. */
const quietMs = 80;
/** Copies of the configuration are used for 5 s. */
const configStaleMs = 6_000;
/** One of ten calls writes statistics. */
const writeUnitsMax = { everyLimit: 9.2, noLimits: 5.2 };

/** Precedes each call: the copies of the configuration grow old, or a gateway starts. */
type Before = 'stale' | 'start';
/** The n-th call of a kind: ids are its own. */
type Kind = readonly [name: string, callOf: (n: number) => Call, before?: Before];

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

function kindsOf({ limited: key, unlimited }: BenchKeys): readonly Kind[] {
  const plain = limitedCall(key);
  return [
    ['plain JSON, every limit', () => plain],
    ['stream, every limit', () => ({ key, body: streamBody(models.limited) })],
    ['plain JSON, no limits', () => ({ key: unlimited, body: jsonBody(models.unlimited) })],
    ['with Idempotency-Key', (n) => ({ ...plain, headers: { 'idempotency-key': `bench-${n}` } })],
    ['replay of a stored answer', () => ({ ...plain, headers: { 'idempotency-key': 'bench-replay' } })],
    ['with span id', (n) => ({ ...plain, headers: { 'x-gw-trace-id': 'bench', 'x-gw-span-id': `bench-${n}` } })],
    ['cached answer', () => ({ key, body: jsonBody(models.limited, { cache: { ttl: 3_600 } }) })],
    ['function', (n) => ({ key, body: functionBody(models.function), headers: { 'idempotency-key': uuid(n) } })],
    ['plain JSON, configuration older than 5 s', () => plain, 'stale'],
    ['plain JSON, first call of a process', () => plain, 'start'],
  ];
}

export async function measureStore(bed: TestBed, plan: BenchPlan): Promise<SectionReport> {
  const rows = [];
  for (const kind of kindsOf(bed.keys)) rows.push(await measureKind(bed, plan.store, kind));
  const [plain, stream, unlimited] = rows;
  const columns = ['call', 'rounds before the provider', 'before the end', 'after it', ...costColumns];
  return {
    tables: [{ title: 'The store per call (rounds: medians)', columns, rows: rows.map((row) => Object.values(row)) }],
    targets: [
      atMost('rounds before the provider, JSON', plain?.roundsBefore, 1),
      atMost('rounds before the provider, stream', stream?.roundsBefore, 1),
      atMost("rounds between the end of the provider's stream and the client's", stream?.roundsBeforeEnd, 0),
      atMost('write units of a call with every limit', plain?.writeUnits, writeUnitsMax.everyLimit),
      atMost('write units of a call without limits', unlimited?.writeUnits, writeUnitsMax.noLimits),
    ],
  };
}

/** In the order of the columns. */
async function measureKind(bed: TestBed, count: number, [name, callOf, before]: Kind) {
  const { proxy, provider, countedGateway, advanceClocks } = bed;
  const client = createClient(countedGateway, 1);
  await advanceClocks(configStaleMs);
  for (const n of [count, count + 1]) await sendOne(client, callOf(n));
  const all: StoreRequest[] = [];
  const rounds = { before: [] as number[], beforeEnd: [] as number[], after: [] as number[] };
  for (let n = 0; n < count; n += 1) {
    if (before === 'stale') await advanceClocks(configStaleMs);
    const started = before === 'start' ? await bed.startCountedGateway() : undefined;
    await proxy.takeRequests(quietMs);
    proxy.delayMs = delayMs;
    const { startedAtMs, totalMs } = await sendOne(started ? createClient(started, 1) : client, callOf(n));
    const requests = await proxy.takeRequests(n === count - 1 ? flushMs : quietMs);
    proxy.delayMs = 0;
    await started?.stop();
    // Where the provider is not called, all that precedes the answer counts as before.
    const endMs = startedAtMs + totalMs;
    const isCalled = provider.lastCalledAtMs > startedAtMs;
    const [calledMs, answeredMs] = isCalled ? [provider.lastCalledAtMs, provider.lastEndedAtMs] : [endMs, endMs];
    // A round is waited for where it ends before what follows it; requests that start alongside are not.
    const roundsOf = (counts: (one: StoreRequest) => boolean) => countRounds(requests.filter(counts));
    rounds.before.push(roundsOf((one) => one.endedAtMs <= calledMs));
    rounds.beforeEnd.push(roundsOf((one) => one.startedAtMs >= answeredMs && one.endedAtMs <= endMs));
    rounds.after.push(roundsOf((one) => one.endedAtMs > endMs));
    all.push(...requests);
  }
  client.close();
  const [roundsBefore, roundsBeforeEnd, roundsAfter] = Object.values(rounds).map(median);
  return { name, roundsBefore, roundsBeforeEnd, roundsAfter, ...costOf(all, count) };
}

/** The longest chain in which each request starts after the one before has ended. */
export function countRounds(requests: readonly Pick<StoreRequest, 'startedAtMs' | 'endedAtMs'>[]): number {
  let rounds = 0;
  let lastEndedAtMs = 0;
  for (const { startedAtMs, endedAtMs } of requests.toSorted((a, b) => a.endedAtMs - b.endedAtMs)) {
    if (startedAtMs < lastEndedAtMs) continue;
    rounds += 1;
    lastEndedAtMs = endedAtMs;
  }
  return rounds;
}
