// Waits for a file that another process has locked. The work is tried again after pauses, and the event loop runs
// meanwhile.
import { type Clock, sleep } from '../../foundation/time/index.ts';

/** SQLITE_BUSY. Extended codes add the reason in higher bits. */
const busyCode = 5;
/** First pause in milliseconds. A transaction takes less than one millisecond. */
const firstPauseMs = 1;
const pauseMaxMs = 8;

export const isBusy = (error: unknown): boolean =>
  ((error as { errcode?: number } | null)?.errcode ?? 0) % 256 === busyCode;

const pauseAfter = (tries: number): number => Math.min(pauseMaxMs, firstPauseMs * 2 ** (tries - 1));

export interface BusyWait {
  readonly clock: Clock;
  /** Limit of all tries together; no limit if absent. */
  readonly limitMs?: number;
  /** Called whenever the file is found locked; returns false to stop waiting. If absent, the wait continues. */
  readonly isAwaited?: (error: unknown) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Runs the work until the file is not locked. Throws the error of the last try, or the reason of the signal. */
export async function whileBusy<Value>(
  { clock, limitMs = Number.POSITIVE_INFINITY, isAwaited = () => true, signal }: BusyWait,
  attempt: () => Value,
): Promise<Value> {
  const startedAtMs = clock.nowMs();
  for (let tries = 1; ; tries += 1) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || clock.nowMs() - startedAtMs >= limitMs || !isAwaited(error)) throw error;
      await sleep(clock, pauseAfter(tries), signal);
      signal?.throwIfAborted();
    }
  }
}
