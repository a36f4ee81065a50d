// What the project promises of its own speed, and whether this run kept it. Nothing fails when it did not: figures of a
// busy machine prove little, and the test suite asserts no time at all.
import { bundleMaxBytes } from '../build/bundle.ts';
import { shown } from './figures.ts';
import { type BenchResults, gatewayName } from './results.ts';
import { heapGrowth } from './sections/measure-memory.ts';

export interface Target {
  readonly what: string;
  readonly limit: string;
  readonly measured: string;
  readonly isMet: boolean;
}

const cpuJsonMaxMs = 2;
const cpuStreamMaxMs = 10;
const firstChunkMaxMs = 3;
const writeUnitsMax = 8;
const startTimesMax = 2.5;
/** What counts as flat: kept heap breathes with timers, pools and compiled code. */
const heapGrowthMax = 0.1;

/** Only of sections that were run. */
export function judge({ rounds, cpu, start, latency, memory }: BenchResults): Target[] {
  const targets: Target[] = [];
  const atMost = (what: string, measured: number | undefined, limit: number, unit: string) => {
    if (measured === undefined) return;
    targets.push({
      what,
      limit: `≤ ${limit}${unit}`,
      measured: `${shown(measured)}${unit}`,
      isMet: measured <= limit,
    });
  };
  const roundsOf = (name: string) => rounds?.find(({ kind }) => kind.startsWith(name));
  const plain = roundsOf('plain JSON, every limit');
  const stream = roundsOf('stream');
  atMost('rounds before the provider, warm, JSON', plain?.roundsBefore, 1, '');
  atMost('rounds before the provider, warm, stream', stream?.roundsBefore, 1, '');
  atMost("rounds between the last chunk and the client's end", stream?.roundsBeforeEnd, 0, '');
  atMost('write units of a plain call', plain?.writeUnits, writeUnitsMax, '');
  const cpuOf = (kind: string) => cpu?.find((row) => row.what === 'core alone' && row.kind === kind)?.cpuMs;
  atMost('processor time per JSON request, core alone', cpuOf('json'), cpuJsonMaxMs, ' ms');
  atMost('processor time per stream of 300 chunks, core alone', cpuOf('stream'), cpuStreamMaxMs, ' ms');
  const streamed = latency?.added.find(
    ({ target, kind, connections }) => target === gatewayName && kind === 'stream' && connections === 1,
  );
  atMost('time to first chunk added, p50, 1 connection', streamed?.addedP50Ms, firstChunkMaxMs, ' ms');
  if (memory !== undefined)
    atMost('kept heap, end against middle', heapGrowth(memory) * 100, heapGrowthMax * 100, ' %');
  for (const { name, bytes, timesEmpty } of start?.slice(1) ?? []) {
    atMost(`bundle of ${name}`, bytes / 1024, bundleMaxBytes / 1024, ' KB');
    atMost(`init of ${name} against an empty handler`, timesEmpty, startTimesMax, ' ×');
  }
  return targets;
}
