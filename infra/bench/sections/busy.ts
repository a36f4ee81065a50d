// Measures how busy a task is with calls that wait. Reports its share of one processor, and the processor time of a
// call, with the store in the process and on DynamoDB. As many calls arrive in a second as end, and a quarter of them
// are streams. Every limit of fifty keys is on. Before that, single calls follow each other on one connection.
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { BenchPlan } from '../bench-options.ts';
import { createClient, drive, jsonBody } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import { type GatewayProcess, startGateway } from '../test-bed/gateway-process.ts';
import { flushMs } from '../test-bed/measured-calls.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/** One of this many calls is a stream. */
const streamEvery = 4;
const busyPercentMax = 50;
/** Processor time of a call on DynamoDB that is alone in its process. */
const loneCallMaxMs = 3.5;
/** Number of single calls before the measurement, because V8 compiles code that is used often, and in it. */
const loneCalls = { first: 200, measured: 300 };

export async function measureBusy(bed: TestBed, { waiting }: BenchPlan): Promise<SectionReport> {
  const rows = [
    await measureStore(bed, waiting, 'in the process', {}),
    await measureStore(bed, waiting, 'DynamoDB', { storeUrl: bed.storeUrl }),
  ];
  const title = `${waiting.calls} calls in flight that wait ${waiting.waitMs / 1_000} s, a quarter of them streams`;
  return {
    tables: [
      {
        title,
        columns: [
          'store',
          'ms a lone call',
          'calls a second',
          'busy, % of a processor',
          'ms a call',
          'failed',
          'most frequent failure',
        ],
        rows: rows.map((row) => Object.values(row)),
      },
    ],
    targets: [
      ...rows.map(({ store, busyPercent }) =>
        atMost(`busy with ${waiting.calls} calls in flight, store ${store}`, busyPercent, busyPercentMax, ' %'),
      ),
      atMost('a lone call on DynamoDB', rows.at(-1)?.loneCallMs, loneCallMaxMs, ' ms'),
    ],
  };
}

async function measureStore(
  { folder, keys }: Pick<TestBed, 'folder' | 'keys'>,
  { calls, waitMs, measuredMs }: BenchPlan['waiting'],
  store: string,
  start: { readonly storeUrl?: string },
) {
  const gateway = await startGateway({ configFile: join(folder, 'gateway.yaml'), folder, ...start });
  const fifty = keys.crowds[0]?.fifty ?? [];
  const loneCallMs = await measureLoneCall(gateway, fifty[0]);
  const client = createClient(gateway, calls);
  const body = (isStream: boolean) =>
    jsonBody(models.limited, { user: `wait-${waitMs}`, ...(isStream && { stream: true }) });
  const bodies = [true, ...Array.from({ length: streamEvery - 1 }, () => false)].map(body);
  let [ended, isOver] = [0, false];
  const failures: string[] = [];
  const connection = async (at: number) => {
    // Evenly over the time of a call.
    await sleep(systemClock, (at / calls) * waitMs);
    for (let index = at; !isOver; index += 1) {
      const body = bodies[index % streamEvery] ?? '';
      const { status, text } = await client.send({ key: fifty[at % fifty.length], body });
      ended += 1;
      if (status !== 200) failures.push(`${status} ${text}`);
    }
  };
  try {
    const connections = Promise.all(Array.from({ length: calls }, (_none, at) => connection(at)));
    // Until every connection has had a call.
    await sleep(systemClock, 2 * waitMs);
    const [before, endedBefore, startedAtMs] = [await gateway.inspect(), ended, performance.now()];
    await sleep(systemClock, measuredMs);
    const [after, endedAfter, elapsedMs] = [await gateway.inspect(), ended, performance.now() - startedAtMs];
    isOver = true;
    await connections;
    const [cpuMs, count] = [after.cpuMs - before.cpuMs, endedAfter - endedBefore];
    return {
      ...{ store, loneCallMs, perSecond: (count / elapsedMs) * 1_000, busyPercent: (cpuMs / elapsedMs) * 100 },
      ...{ msPerCall: cpuMs / count, failed: failures.length, failure: mostFrequent(failures) },
    };
  } finally {
    client.close();
    await gateway.stop();
  }
}

/** Returns the processor time of a call after which the next call follows at once. */
async function measureLoneCall(gateway: GatewayProcess, key: string | undefined): Promise<number> {
  const client = createClient(gateway, 1);
  const call = { key, body: jsonBody(models.limited) };
  await drive(client, call, loneCalls.first, 1);
  const before = await gateway.inspect();
  await drive(client, call, loneCalls.measured, 1);
  await sleep(systemClock, flushMs);
  const after = await gateway.inspect();
  client.close();
  return (after.cpuMs - before.cpuMs) / loneCalls.measured;
}

const shownCharacters = 300;

function mostFrequent(texts: readonly string[]): string | undefined {
  const groups = Object.entries(Object.groupBy(texts, (text) => text.slice(0, shownCharacters)));
  return groups.toSorted(([, a = []], [, b = []]) => b.length - a.length)[0]?.[0];
}
