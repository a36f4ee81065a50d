// Where many calls share a process, what a stream brings within a few milliseconds is read together: each write of a socket costs
// as much as several events, and a reader sees no difference.
import { type Clock, sleep } from '../../../shared/foundation/time/index.ts';
import type { EventBatch } from '../../../shared/routing/providers/index.ts';

/** A frame of the fastest screens. */
const gatherMs = 4;

/** The same batches, none asked for sooner than `gatherMs` behind the one before it while `isBusy`. Who leaves ends both. */
export async function* gatherBatches(
  batches: AsyncGenerator<EventBatch, void, undefined>,
  clock: Clock,
  isBusy: () => boolean,
): AsyncGenerator<EventBatch, void, undefined> {
  for await (const batch of batches) {
    const cameAtMs = clock.nowMs();
    yield batch;
    const leftMs = cameAtMs + gatherMs - clock.nowMs();
    if (leftMs > 0 && isBusy()) await sleep(clock, leftMs);
  }
}
