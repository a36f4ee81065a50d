// Measures the time that a gateway adds for a client. The provider itself, the gateway and its peer are called in
// turns; "added" is the difference of the percentiles. The gateway has every limit on, and the peer has no state.

import type { BenchPlan } from '../bench-options.ts';
import {
  type BenchCall,
  createClient,
  drive,
  jsonBody,
  type MeasuredEndpoint,
  streamBody,
} from '../measuring-client.ts';
import { atLeast, atMost, percentile, type SectionReport, type SpeedTarget, sum } from '../report.ts';
import { firstChunkMaxMs, timesTarget } from '../targets.ts';
import { models } from '../test-bed/bench-file.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

/** Pauses on one connection, because the work that a call leaves after its answer is done during the next call. */
const pausesMs = { 1: 20, 32: 0 } as const;

type Gateway = TestBed['gateway'];

export async function measureLatency(bed: TestBed, plan: BenchPlan): Promise<SectionReport> {
  const tracing = await bed.startTracingGateway();
  const json1 = await measureInTurns(bed, plan, 'JSON', 1, tracing);
  const json32 = await measureInTurns(bed, plan, 'JSON', 32, tracing);
  await tracing.stop();
  const stream1 = await measureInTurns(bed, plan, 'stream', 1);
  const stream32 = await measureInTurns(bed, plan, 'stream', 32);
  const besidePeer = (
    name: string,
    rows: typeof json1,
    figure: 'addedP50Ms' | 'perSecond',
    what: string,
  ): SpeedTarget[] => {
    const limit = timesTarget(what, name);
    if (limit === undefined) return [];
    const times = (rows[1]?.[figure] ?? NaN) / (rows.find((row) => row.name === name)?.[figure] ?? NaN);
    return [(figure === 'perSecond' ? atLeast : atMost)(`${what}, times ${name}`, times, limit)];
  };
  const columns = ['target', 'kind', 'connections', 'p50', 'p99', 'added p50', 'added p99', 'calls/s', 'failed', 'CPU'];
  const rows = [json1, json32, stream1, stream32].flat().map((row) => Object.values(row));
  return {
    tables: [{ title: 'Latency (stream: to the first chunk) and CPU, ms a call', columns, rows }],
    targets: [
      atMost('added to the first chunk, p50, 1 connection', stream1[1]?.addedP50Ms, firstChunkMaxMs, ' ms'),
      ...bed.peers.flatMap(({ name }) => [
        ...besidePeer(name, json1, 'addedP50Ms', 'JSON on 1: added latency'),
        ...besidePeer(name, json32, 'perSecond', 'JSON on 32: calls a second'),
      ]),
    ],
  };
}

/** Measures the provider itself, the gateway, its peers, and a gateway with traces, in the order of the columns. */
async function measureInTurns(
  { provider, gateway, keys, peers }: TestBed,
  plan: BenchPlan,
  kind: 'JSON' | 'stream',
  connections: 1 | 32,
  tracing?: Gateway,
) {
  const [bodyOf, counts] = kind === 'JSON' ? [jsonBody, plan.jsonPerTurn] : [streamBody, plan.streamsPerTurn];
  const run = (endpoint: MeasuredEndpoint, call: BenchCall, process?: Gateway) => {
    const turns: Awaited<ReturnType<typeof drive>>[] = [];
    return { client: createClient(endpoint, connections), call, process, cpuMs: 0, turns };
  };
  const directCall = { body: bodyOf('bench') };
  const call = { key: keys.limited, body: bodyOf(models.limited) };
  const runs = [run(provider, directCall), run(gateway, call, gateway)];
  runs.push(...peers.map((peer) => run(peer, directCall)));
  if (tracing) runs.push(run(tracing, call, tracing));
  for (let turn = 0; turn <= plan.latencyTurns; turn += 1) {
    // The first turn warms up. Between its turns a gateway is idle, or sends its spans.
    if (turn === 1) for (const one of runs) one.cpuMs -= (await one.process?.inspect())?.cpuMs ?? NaN;
    for (const { client, call, turns } of runs) {
      const driven = await drive(client, call, counts[connections], connections, pausesMs[connections]);
      if (turn > 0) turns.push(driven);
    }
  }
  for (const one of runs) one.cpuMs += (await one.process?.inspect())?.cpuMs ?? NaN;
  const measured = runs.map(({ client, turns, cpuMs }) => {
    client.close();
    const answers = turns.flatMap((turn) => turn.answers);
    const waits = answers.map(({ firstByteMs, totalMs }) => (kind === 'JSON' ? totalMs : firstByteMs));
    const perSecond = (answers.length / sum(turns.map((turn) => turn.elapsedMs))) * 1_000;
    const failed = sum(turns.map((turn) => turn.failed));
    return { name: client.name, waits, perSecond, failed, cpuMsPerCall: cpuMs / answers.length };
  });
  const directMs = (fraction: number) => percentile(measured[0]?.waits ?? [], fraction);
  return measured.map(({ name, waits, ...others }) => {
    const [p50Ms, p99Ms] = [percentile(waits, 0.5), percentile(waits, 0.99)];
    const [addedP50Ms, addedP99Ms] = [p50Ms - directMs(0.5), p99Ms - directMs(0.99)];
    return { name, kind, connections, p50Ms, p99Ms, addedP50Ms, addedP99Ms, ...others };
  });
}
