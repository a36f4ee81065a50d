// Processor time of the gateway itself: no server, no socket to the provider. Once with a store that answers from memory
// (the core alone), once with the store's client and an embedded DynamoDB in another process.
import type { BenchPlan } from '../bench-plan.ts';
import { type Core, createCore, seed } from '../core/create-core.ts';
import { rememberAnswers } from '../core/remember-answers.ts';
import { startCoreStore } from '../core/start-core-store.ts';
import { median } from '../figures.ts';
import { models, newKeys } from '../gateway-file.ts';
import { jsonBody, streamBody } from '../request-bodies.ts';

export interface CpuRow {
  readonly what: 'core alone' | 'with the store client';
  readonly kind: 'json' | 'stream';
  /** User and system time of the process per call: the median of the turns. */
  readonly cpuMs: number;
}

export async function measureCpu(plan: BenchPlan): Promise<CpuRow[]> {
  const { store, stop } = await startCoreStore();
  try {
    const keys = newKeys();
    const real = createCore(store);
    await seed(real, keys);
    const alone = createCore(rememberAnswers(store));
    const runs = [
      { what: 'core alone', core: alone, kind: 'json', count: plan.cpuJsonPerTurn },
      { what: 'core alone', core: alone, kind: 'stream', count: plan.cpuStreamsPerTurn },
      { what: 'with the store client', core: real, kind: 'json', count: plan.cpuJsonPerTurn },
      { what: 'with the store client', core: real, kind: 'stream', count: plan.cpuStreamsPerTurn },
    ] as const;
    const turns = runs.map(() => [] as number[]);
    // Turn 0 warms up and is not counted.
    for (let turn = 0; turn <= plan.cpuTurns; turn += 1) {
      for (const [index, { core, kind, count }] of runs.entries()) {
        const cpuMs = await cpuPerCall(core, keys.limited, kind, count);
        if (turn > 0) turns[index]?.push(cpuMs);
      }
    }
    return runs.map(({ what, kind }, index) => ({ what, kind, cpuMs: median(turns[index] ?? []) }));
  } finally {
    await stop();
  }
}

async function cpuPerCall(core: Core, key: string, kind: CpuRow['kind'], count: number): Promise<number> {
  const body = kind === 'json' ? jsonBody(models.busy) : streamBody(models.busy);
  const before = process.cpuUsage();
  for (let call = 0; call < count; call += 1) await core.call({ key, body });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / count;
}
