// What a client waits for because there is a gateway in between: each target is called in turns with the provider
// itself, and the difference of the percentiles is what was added.
import type { BenchPlan, Connections } from '../bench-plan.ts';
import { percentile } from '../figures.ts';
import { drive } from '../load/drive.ts';
import { type Times, targetOf } from '../load/send.ts';
import type { BenchProcess } from '../processes/start-child.ts';

export interface LatencyTarget {
  readonly name: string;
  /** Base URL, ends in /v1. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly jsonBody: string;
  /** Absent: it is not asked for streams. */
  readonly streamBody?: string;
  /** Whose processor time is counted. */
  readonly process?: BenchProcess;
}

export interface LatencyRow {
  readonly target: string;
  readonly kind: 'json' | 'stream';
  readonly connections: Connections;
  readonly calls: number;
  /** Beside them: calls that were refused or broke. */
  readonly failed: number;
  /** JSON: to the last byte. Stream: to the first one. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of a stream: to the last byte. */
  readonly endP50Ms?: number;
  readonly perSecond: number;
  readonly cpuMsPerCall?: number;
}

interface Collected {
  readonly times: Times[];
  failed: number;
  elapsedMs: number;
  cpuMs: number;
}

/** The first of the targets is the provider itself. */
export async function measureLatency(plan: BenchPlan, targets: readonly LatencyTarget[]): Promise<LatencyRow[]> {
  const rows: LatencyRow[] = [];
  for (const kind of ['json', 'stream'] as const) {
    for (const connections of [1, 32] as const) {
      const asked = targets.filter(({ streamBody }) => kind === 'json' || streamBody !== undefined);
      rows.push(...(await inTurns(plan, asked, kind, connections)));
    }
  }
  return rows;
}

async function inTurns(
  plan: BenchPlan,
  targets: readonly LatencyTarget[],
  kind: LatencyRow['kind'],
  connections: Connections,
): Promise<LatencyRow[]> {
  const count = (kind === 'json' ? plan.jsonPerTurn : plan.streamsPerTurn)[connections];
  const pauseMs = plan.pauseMs[connections];
  const runs = targets.map((target) => ({
    target,
    client: targetOf(target.name, target.url, target.headers, connections),
    body: (kind === 'json' ? target.jsonBody : target.streamBody) ?? '',
    collected: { times: [], failed: 0, elapsedMs: 0, cpuMs: 0 } as Collected,
  }));
  // Turn 0 warms up and is not counted.
  for (let turn = 0; turn <= plan.turns; turn += 1) {
    for (const { target, client, body, collected } of runs) {
      const cpuBeforeMs = (await target.process?.cpuMs()) ?? 0;
      const { times, failed, elapsedMs } = await drive(client, { count, connections, pauseMs, bodyOf: () => body });
      const cpuAfterMs = (await target.process?.cpuMs()) ?? 0;
      if (turn === 0) continue;
      collected.times.push(...times);
      collected.failed += failed;
      collected.elapsedMs += elapsedMs;
      collected.cpuMs += cpuAfterMs - cpuBeforeMs;
    }
  }
  for (const { client } of runs) client.agent.destroy();
  return runs.map(({ target, collected }) => toRow(target, kind, connections, collected));
}

function toRow(
  target: LatencyTarget,
  kind: LatencyRow['kind'],
  connections: Connections,
  { times, failed, elapsedMs, cpuMs }: Collected,
): LatencyRow {
  const waits = times.map(({ firstMs, totalMs }) => (kind === 'json' ? totalMs : firstMs));
  const ends = times.map(({ totalMs }) => totalMs);
  return {
    target: target.name,
    kind,
    connections,
    calls: times.length,
    failed,
    p50Ms: percentile(waits, 0.5),
    p99Ms: percentile(waits, 0.99),
    ...(kind === 'json' ? {} : { endP50Ms: percentile(ends, 0.5) }),
    perSecond: (times.length / elapsedMs) * 1_000,
    ...(target.process === undefined ? {} : { cpuMsPerCall: cpuMs / times.length }),
  };
}

export interface AddedRow extends LatencyRow {
  readonly addedP50Ms: number;
  readonly addedP99Ms: number;
  /** Of a stream of 300 chunks: how much later its last byte comes, which takes in the first chunk and all others. */
  readonly addedEndP50Ms?: number;
}

/** Every target beside the provider itself, with what it adds. */
export function addedBy(rows: readonly LatencyRow[], provider: string): AddedRow[] {
  return rows
    .filter(({ target }) => target !== provider)
    .map((row) => {
      const direct = rows.find(
        ({ target, kind, connections }) => target === provider && kind === row.kind && connections === row.connections,
      );
      if (direct === undefined) throw new Error('the provider itself was not measured');
      const end = row.endP50Ms === undefined ? {} : { addedEndP50Ms: row.endP50Ms - (direct.endP50Ms ?? 0) };
      return { ...row, addedP50Ms: row.p50Ms - direct.p50Ms, addedP99Ms: row.p99Ms - direct.p99Ms, ...end };
    });
}
