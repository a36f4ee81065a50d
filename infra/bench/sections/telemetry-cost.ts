// What traces cost: the same calls through a gateway without telemetry, one whose collector takes every span, and one whose
// collector does not exist. In turns, each of them a fresh process on the same store. A second one without telemetry shows
// how far two processes that do the same are apart.

import type { BenchPlan } from '../bench-options.ts';
import { createClient, drive, jsonBody } from '../measuring-client.ts';
import { median, percentile, type SectionReport, sum } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import { startCollector } from '../test-bed/collector.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const pausesMs = { 1: 20, 32: 0 } as const;
/** Half as long as those of other sections, and twice as many: each is compared with the one beside it. */
const shorterTimes = 2;
/** No collector listens there. */
const noCollector = 'http://127.0.0.1:9';

type Gateway = Awaited<ReturnType<TestBed['startGatewayWith']>>;

export async function measureTelemetry(bed: TestBed, plan: BenchPlan): Promise<SectionReport> {
  const collector = await startCollector();
  const environments = {
    off: {},
    'off, again': {},
    on: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    'on, its collector is gone': { OTEL_EXPORTER_OTLP_ENDPOINT: noCollector },
  };
  const gateways: Gateway[] = [];
  try {
    for (const [name, environment] of Object.entries(environments)) {
      gateways.push({ ...(await bed.startGatewayWith(environment)), name });
    }
    // On 32 connections first: what is measured on one has no code that was compiled meanwhile.
    const busy = await measureInTurns(bed, plan, gateways, 32);
    const quiet = await measureInTurns(bed, plan, gateways, 1);
    // With the last spans.
    await Promise.all(gateways.map(({ stop }) => stop()));
    const { exports, bytes, bytesUnpacked, spans } = collector.take();
    // Each call is a request and an attempt.
    const calls = spans / 2;
    return {
      tables: [
        {
          title: 'Traces: latency and CPU, ms a call',
          columns: ['telemetry', 'connections', 'p50', 'p99', 'added p50', 'calls/s', 'failed', 'CPU', 'added CPU'],
          rows: [...quiet, ...busy],
        },
        {
          title: 'Traces: what reaches the collector, a call',
          columns: ['calls', 'exports', 'spans', 'bytes', 'bytes unpacked'],
          rows: [[calls, exports, spans / calls, bytes / calls, bytesUnpacked / calls]],
        },
      ],
      targets: [],
    };
  } finally {
    await Promise.all(gateways.map(({ stop }) => stop()));
    collector.stop();
  }
}

/** In the order of the columns. */
async function measureInTurns(
  { keys }: TestBed,
  plan: BenchPlan,
  gateways: readonly Gateway[],
  connections: 1 | 32,
): Promise<(string | number)[][]> {
  const call = { key: keys.limited, body: jsonBody(models.limited) };
  const count = Math.ceil(plan.jsonPerTurn[connections] / shorterTimes);
  const runs = gateways.map((gateway) => {
    const client = createClient(gateway, connections);
    const driveOnce = () => drive(client, call, count, connections, pausesMs[connections]);
    return { gateway, client, drive: driveOnce, cpuBeforeMs: 0, turns: [] as Awaited<ReturnType<typeof drive>>[] };
  });
  // The first turns warm up: as long as one of the other sections.
  for (let turn = 1; turn <= shorterTimes; turn += 1) for (const run of runs) await run.drive();
  for (const run of runs) run.cpuBeforeMs = (await run.gateway.inspect()).cpuMs;
  for (let turn = 0; turn < shorterTimes * plan.latencyTurns; turn += 1) {
    // Each turn begins with another one: none has always the same one before it.
    const first = turn % runs.length;
    for (const run of [...runs.slice(first), ...runs.slice(0, first)]) run.turns.push(await run.drive());
  }
  const measured = [];
  for (const { gateway, client, turns, cpuBeforeMs } of runs) {
    // All of it, between its turns too: spans are sent some seconds after their calls. Those of the first turns are sent
    // meanwhile, and those of the last turns afterwards.
    const cpuMs = (await gateway.inspect()).cpuMs - cpuBeforeMs;
    client.close();
    const waitsOfTurns = turns.map(({ answers }) => answers.map(({ totalMs }) => totalMs));
    const waits = waitsOfTurns.flat();
    measured.push({
      name: gateway.name,
      waits,
      p50sMs: waitsOfTurns.map((ofTurn) => median(ofTurn)),
      perSecond: (waits.length / sum(turns.map(({ elapsedMs }) => elapsedMs))) * 1_000,
      failed: sum(turns.map(({ failed }) => failed)),
      cpuMs: cpuMs / waits.length,
    });
  }
  const [off] = measured;
  return measured.map(({ name, waits, p50sMs, perSecond, failed, cpuMs }) => {
    const addedMs = median(p50sMs.map((p50Ms, turn) => p50Ms - (off?.p50sMs[turn] ?? NaN)));
    const addedCpuMs = cpuMs - (off?.cpuMs ?? NaN);
    return [name, connections, median(waits), percentile(waits, 0.99), addedMs, perSecond, failed, cpuMs, addedCpuMs];
  });
}
