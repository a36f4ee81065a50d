// What traces cost: the same calls through a gateway without telemetry, one whose collector takes every span, and one whose
// collector does not exist. In turns, each of them a process of its own on the same store.

import type { BenchPlan } from '../bench-options.ts';
import { createClient, drive, jsonBody } from '../measuring-client.ts';
import { percentile, type SectionReport, sum } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import { startCollector } from '../test-bed/collector.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const pausesMs = { 1: 20, 32: 0 } as const;
/** No collector listens there. */
const noCollector = 'http://127.0.0.1:9';

export async function measureTelemetry(bed: TestBed, plan: BenchPlan): Promise<SectionReport> {
  const collector = await startCollector();
  const traced = await bed.startGatewayWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const failing = await bed.startGatewayWith({ OTEL_EXPORTER_OTLP_ENDPOINT: noCollector });
  try {
    const gateways = [
      { ...bed.gateway, name: 'off' },
      { ...traced, name: 'on' },
      { ...failing, name: 'on, its collector is gone' },
    ];
    const rows = [
      ...(await measureInTurns(bed, plan, gateways, 1)),
      ...(await measureInTurns(bed, plan, gateways, 32)),
    ];
    // With the last spans.
    await traced.stop();
    const { exports, bytes, bytesUnpacked, spans } = collector.take();
    // Each call is a request and an attempt.
    const calls = spans / 2;
    return {
      tables: [
        {
          title: 'Traces: latency and CPU, ms a call',
          columns: ['telemetry', 'connections', 'p50', 'p99', 'added p50', 'calls/s', 'failed', 'CPU'],
          rows,
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
    await Promise.all([traced.stop(), failing.stop()]);
    collector.stop();
  }
}

type MeasuredGateway = Pick<TestBed['gateway'], 'name' | 'url' | 'inspect'>;

/** In the order of the columns. */
async function measureInTurns(
  { keys }: TestBed,
  plan: BenchPlan,
  gateways: readonly MeasuredGateway[],
  connections: 1 | 32,
): Promise<(string | number)[][]> {
  const call = { key: keys.limited, body: jsonBody(models.limited) };
  const runs = gateways.map((gateway) => {
    return {
      gateway,
      client: createClient(gateway, connections),
      cpuMs: 0,
      turns: [] as Awaited<ReturnType<typeof drive>>[],
    };
  });
  // The first turn warms up.
  for (let turn = 0; turn <= plan.latencyTurns; turn += 1) {
    for (const run of runs) {
      const beforeMs = (await run.gateway.inspect()).cpuMs;
      const driven = await drive(run.client, call, plan.jsonPerTurn[connections], connections, pausesMs[connections]);
      if (turn === 0) continue;
      run.turns.push(driven);
      run.cpuMs += (await run.gateway.inspect()).cpuMs - beforeMs;
    }
  }
  const measured = runs.map(({ gateway, client, turns, cpuMs }) => {
    client.close();
    const answers = turns.flatMap((turn) => turn.answers);
    const waits = answers.map(({ totalMs }) => totalMs);
    return {
      name: gateway.name,
      p50Ms: percentile(waits, 0.5),
      p99Ms: percentile(waits, 0.99),
      perSecond: (answers.length / sum(turns.map(({ elapsedMs }) => elapsedMs))) * 1_000,
      failed: sum(turns.map(({ failed }) => failed)),
      cpuMs: cpuMs / answers.length,
    };
  });
  const offMs = measured[0]?.p50Ms ?? NaN;
  return measured.map(({ name, p50Ms, p99Ms, perSecond, failed, cpuMs }) => {
    return [name, connections, p50Ms, p99Ms, p50Ms - offMs, perSecond, failed, cpuMs];
  });
}
