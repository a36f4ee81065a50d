// Where the time to the first chunk goes, inside the gateway: before its commands to the store leave, while they run, and
// until the provider is called. With the pause of the latencies between the calls, so that nothing is warmer here.
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';
import type { BenchPlan } from '../bench-plan.ts';
import { openBareWrites } from '../core/bare-writes.ts';
import { coreStage, createCore, seed } from '../core/create-core.ts';
import { startCoreStore } from '../core/start-core-store.ts';
import { median } from '../figures.ts';
import { models, newKeys } from '../gateway-file.ts';
import { streamBody } from '../request-bodies.ts';

/** Medians over all calls, in milliseconds. */
export interface FirstChunkParts {
  readonly beforeStoreMs: number;
  readonly storeRoundMs: number;
  /** As many plain writes at once, from bare sockets: the embedded store by itself. */
  readonly bareStoreMs: number;
  readonly afterStoreMs: number;
}

export async function measureFirstChunk({
  pauseMs,
  firstChunkCalls,
}: Pick<BenchPlan, 'pauseMs' | 'firstChunkCalls'>): Promise<FirstChunkParts> {
  const { store, watch, endpoint, stop } = await startCoreStore();
  try {
    const keys = newKeys();
    const core = createCore(store);
    await seed(core, keys);
    const request = { key: keys.limited, body: streamBody(models.busy) };
    await core.call(request);
    watch.clear();
    const first = await core.call(request);
    const claims = watch.calls.filter(({ startedAtMs }) => startedAtMs < (first.calledAtMs ?? 0)).length;
    const bare = await openBareWrites(endpoint, coreStage, claims);
    const seen: FirstChunkParts[] = [];
    for (let number = 0; number < firstChunkCalls; number += 1) {
      await sleep(systemClock, pauseMs[1]);
      watch.clear();
      const { startedAtMs, calledAtMs = startedAtMs } = await core.call(request);
      const before = watch.calls.filter((call) => call.startedAtMs < calledAtMs);
      const sentAtMs = Math.min(...before.map((call) => call.startedAtMs));
      const answeredAtMs = Math.max(...before.map((call) => call.endedAtMs));
      await sleep(systemClock, pauseMs[1]);
      const bareAtMs = performance.now();
      await bare.send();
      seen.push({
        beforeStoreMs: sentAtMs - startedAtMs,
        storeRoundMs: answeredAtMs - sentAtMs,
        bareStoreMs: performance.now() - bareAtMs,
        afterStoreMs: calledAtMs - answeredAtMs,
      });
    }
    bare.close();
    const usual = (part: keyof FirstChunkParts): number => median(seen.map((one) => one[part]));
    return {
      beforeStoreMs: usual('beforeStoreMs'),
      storeRoundMs: usual('storeRoundMs'),
      bareStoreMs: usual('bareStoreMs'),
      afterStoreMs: usual('afterStoreMs'),
    };
  } finally {
    await stop();
  }
}
