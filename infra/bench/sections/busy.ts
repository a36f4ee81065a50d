// Measures how busy a task is with calls that wait. Reports its share of one processor, and the processor time of a
// call, with the store in the process and on DynamoDB. As many calls arrive in a second as end, and a quarter of them
// are streams. Every limit of fifty keys is on.
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { BenchPlan } from '../bench-options.ts';
import { createClient, jsonBody } from '../measuring-client.ts';
import { atMost, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import { startGateway } from '../test-bed/gateway-process.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/** One of this many calls is a stream. */
const streamEvery = 4;
const busyPercentMax = 50;

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
        columns: ['store', 'calls a second', 'busy, % of a processor', 'ms a call', 'failed', 'most frequent failure'],
        rows: rows.map((row) => Object.values(row)),
      },
    ],
    targets: rows.map(({ store, busyPercent }) =>
      atMost(`busy with ${waiting.calls} calls in flight, store ${store}`, busyPercent, busyPercentMax, ' %'),
    ),
  };
}

async function measureStore(
  { folder, keys }: Pick<TestBed, 'folder' | 'keys'>,
  { calls, waitMs, measuredMs }: BenchPlan['waiting'],
  store: string,
  start: { readonly storeUrl?: string },
) {
  const gateway = await startGateway({ configFile: join(folder, 'gateway.yaml'), folder, ...start });
  const client = createClient(gateway, calls);
  const fifty = keys.crowds[0]?.fifty ?? [];
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
      ...{ store, perSecond: (count / elapsedMs) * 1_000, busyPercent: (cpuMs / elapsedMs) * 100 },
      ...{ msPerCall: cpuMs / count, failed: failures.length, failure: mostFrequent(failures) },
    };
  } finally {
    client.close();
    await gateway.stop();
  }
}

const shownCharacters = 300;

function mostFrequent(texts: readonly string[]): string | undefined {
  const groups = Object.entries(Object.groupBy(texts, (text) => text.slice(0, shownCharacters)));
  return groups.toSorted(([, a = []], [, b = []]) => b.length - a.length)[0]?.[0];
}
