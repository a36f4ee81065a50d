// A file that another process has locked: it is asked for again by the clock, and the event loop turns meanwhile.
import { type Clock, sleep } from '../../foundation/time/index.ts';

/** SQLITE_BUSY. Extended codes add the reason in higher bits. */
const busyCode = 5;
/** A transaction takes less than a millisecond. */
const firstPauseMs = 1;
const pauseMaxMs = 8;

export const isBusy = (error: unknown): boolean =>
  ((error as { errcode?: number } | null)?.errcode ?? 0) % 256 === busyCode;

/** The pause after this number of tries. */
const pauseAfter = (tries: number): number => Math.min(pauseMaxMs, firstPauseMs * 2 ** (tries - 1));

export interface BusyWait {
  readonly clock: Clock;
  /** No limit if absent. */
  readonly limitMs?: number;
  /** Called whenever the file is found locked: whether to wait on. Always, if absent. */
  readonly isAwaited?: (error: unknown) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Throws the error of the last try, or the reason of the signal. */
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
