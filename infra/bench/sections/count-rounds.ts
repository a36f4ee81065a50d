// How many times a call waits for the store, one after the other. Calls that run side by side are one round.
import type { StoreCall } from '../core/watch-store.ts';

type Interval = Pick<StoreCall, 'startedAtMs' | 'endedAtMs'>;

/** The longest chain in which each call starts after the one before has ended. */
export function countRounds(calls: readonly Interval[]): number {
  let rounds = 0;
  let endedAtMs = Number.NEGATIVE_INFINITY;
  for (const call of calls.toSorted((a, b) => a.endedAtMs - b.endedAtMs)) {
    if (call.startedAtMs < endedAtMs) continue;
    rounds += 1;
    endedAtMs = call.endedAtMs;
  }
  return rounds;
}
