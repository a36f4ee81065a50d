// Compares the cost of a single call with that of a call among a thousand: many concurrent calls; a further call while
// others are in flight, its latency and its store requests; and the store requests of a call on 32 connections.

import type { BenchPlan } from '../bench-options.ts';
import { createClient, drive, jsonBody, type MeasuredEndpoint } from '../measuring-client.ts';
import { atLeast, atMost, median, percentile, type SectionReport } from '../report.ts';
import { limitedCall, models } from '../test-bed/bench-file.ts';
import * as calls from '../test-bed/measured-calls.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const waitMs = 2_000;
const pauseMs = 20;
const counterBytesMax = 1_024;
const requestsPerCallMax = 2.5;
/** Limit for "does not grow", with a margin for the noise of a shared machine. */
const growthMax = 1.5;

export async function measureLoad(bed: TestBed, plan: BenchPlan): Promise<SectionReport> {
  const further = await measureFurtherCalls(bed, plan);
  const busy = await calls.countCalls(bed, bed.keys.limited, plan.busy, 32);
  const busyRow = ['on 32 connections', 32, undefined, undefined, ...Object.values(busy)];
  const atOnce = [];
  for (const [crowd, count] of plan.atOnce.entries()) atOnce.push(...(await measureAtOnce(bed, count, crowd)));
  const [fresh] = further;
  const most = further.at(-1);
  const growth = (name: string, figure: 'p50Ms' | 'writeUnits' | 'kilobytes') => {
    const times = (most?.[figure] ?? NaN) / (fresh?.[figure] ?? NaN);
    return atMost(`${name}, ${most?.state}, times that with a fresh key`, times, growthMax);
  };
  return {
    tables: [
      {
        title: 'All at once in one process; the provider answers after 2 s',
        columns: ['target', 'at once', 'answered', '503', 'other', 'p50 ms over 2 s', 'p95 ms over 2 s'],
        rows: atOnce.map((row) => Object.values(row)),
      },
      {
        title: 'One further call of one key with every limit',
        columns: ['state', 'in flight', 'p50 ms', 'largest counter item, bytes', 'failed', ...calls.costColumns],
        rows: [...further.map((row) => Object.values(row)), busyRow],
      },
    ],
    targets: [
      ...atOnce
        .filter(({ name }) => name.startsWith('gw'))
        .map(({ name, count, answered }) => atLeast(`answered of ${count} at once, ${name}`, answered, count)),
      growth('latency of a further call', 'p50Ms'),
      growth('write units of a further call', 'writeUnits'),
      growth('store bytes of a further call', 'kilobytes'),
      atMost(`largest counter item, ${most?.state}`, most?.counterBytes, counterBytesMax, ' bytes'),
      atMost('store requests per call, 32 connections', busy.requests, requestsPerCallMax),
    ],
  };
}

async function measureFurtherCalls(bed: TestBed, { further, atOnce }: BenchPlan) {
  const key = bed.keys.fresh;
  const measure = async (state: string, wanted = 0) => {
    const client = createClient(bed.gateway, 1);
    const inFlight = bed.provider.held;
    // If the gateway accepts no more calls, one call shows that it waits.
    const { answers, failed } = await drive(client, limitedCall(key), inFlight < wanted ? 1 : further, 1, pauseMs);
    client.close();
    const p50Ms = median(answers.map(({ totalMs }) => totalMs));
    const counted = await calls.countCalls(bed, key, further, 1);
    const counterBytes = Math.max(...(await bed.itemSizes(['keys', 'ledger', 'limits'])));
    return { state, inFlight, p50Ms, counterBytes, ...counted, failed: failed + counted.failed };
  };
  const rows = [await measure('fresh key')];
  await calls.callForAMinute(bed, key);
  rows.push(await measure('after a minute of calls'));
  for (const count of atOnce) {
    rows.push(await calls.whileInFlight(bed, key, count, () => measure(`${count} calls in flight`, count)));
  }
  return rows;
}

async function measureAtOnce({ provider, gateway, keys, peers }: TestBed, count: number, crowd: number) {
  const measure = async (name: string, endpoint: MeasuredEndpoint, model: string, callKeys: readonly string[] = []) => {
    const client = createClient(endpoint, count);
    const body = jsonBody(model, { user: `wait-${waitMs}` });
    const calls = Array.from({ length: count }, (_none, at) => ({ body, key: callKeys[at % callKeys.length] }));
    const answers = await Promise.all(calls.map(client.send));
    client.close();
    const overMs = answers.filter(({ status }) => status === 200).map(({ totalMs }) => totalMs - waitMs);
    const [answered, unavailable] = [overMs.length, answers.filter(({ status }) => status === 503).length];
    const other = count - answered - unavailable;
    return { name, count, answered, unavailable, other, p50: percentile(overMs, 0.5), p95: percentile(overMs, 0.95) };
  };
  const { oneKey = '', fifty = [], unlimited = '' } = keys.crowds[crowd] ?? {};
  const rows = [
    await measure(provider.name, provider, 'bench'),
    await measure('gw, one key with every limit', gateway, models.limited, [oneKey]),
    await measure('gw, fifty keys of one workspace', gateway, models.limited, fifty),
    await measure('gw, no limits', gateway, models.unlimited, [unlimited]),
  ];
  for (const peer of peers) rows.push(await measure(peer.name, peer, 'bench'));
  return rows;
}
