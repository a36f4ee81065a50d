// Whether a gateway that has served many requests holds more memory than one that has served some. Looked at after a full
// collection, so that what is counted is what is kept.
import type { BenchPlan } from '../bench-plan.ts';
import { drive } from '../load/drive.ts';
import { targetOf } from '../load/send.ts';
import type { MemoryAnswer } from '../processes/child-side.ts';
import type { BenchProcess } from '../processes/start-child.ts';

export interface MemorySample extends MemoryAnswer {
  /** Served by then, in this section. */
  readonly requests: number;
}

export interface MemoryLoad {
  readonly key: string;
  readonly jsonBody: string;
  readonly streamBody: string;
}

const samplesMax = 10;
const connections = 32;
/** Every so many calls one is a stream. */
const streamEvery = 20;

/** The first sample is taken before any request. */
export async function measureMemory(
  { memoryRequests }: Pick<BenchPlan, 'memoryRequests'>,
  gateway: BenchProcess,
  { key, jsonBody, streamBody }: MemoryLoad,
): Promise<MemorySample[]> {
  const target = targetOf('gateway', gateway.url, { authorization: `Bearer ${key}` }, connections);
  const count = Math.ceil(memoryRequests / samplesMax);
  const bodyOf = (call: number) => (call % streamEvery === 0 ? streamBody : jsonBody);
  const samples: MemorySample[] = [{ requests: 0, ...(await gateway.memory()) }];
  for (let taken = 1; taken <= samplesMax; taken += 1) {
    await drive(target, { count, connections, pauseMs: 0, bodyOf });
    samples.push({ requests: taken * count, ...(await gateway.memory()) });
  }
  target.agent.destroy();
  return samples;
}

/** Kept heap at the end against the middle: what a leak would raise, and caches that fill up at first do not. */
export function heapGrowth(samples: readonly MemorySample[]): number {
  const middle = samples[Math.floor(samples.length / 2)]?.heapUsedBytes ?? Number.NaN;
  return (samples.at(-1)?.heapUsedBytes ?? Number.NaN) / middle - 1;
}
