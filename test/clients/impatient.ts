// Client libraries wait for seconds before a retry. Here they do not wait, and all other timers keep their time.
import { AsyncLocalStorage } from 'node:async_hooks';

/** Longer timers are time limits of requests, not pauses between them. */
const pauseMaxMs = 120_000;

const isImpatient = new AsyncLocalStorage<true>();
const setRealTimeout = globalThis.setTimeout;

/**
 * Runs the work with short pauses: only timers that the work sets are shortened, and those of a gateway in the same
 * process are not.
 */
export function impatiently<Value>(work: () => Promise<Value>): Promise<Value> {
  globalThis.setTimeout = ((callback: () => void, delayMs?: number, ...rest: []) => {
    const isPause = isImpatient.getStore() === true && (delayMs ?? 0) <= pauseMaxMs;
    return setRealTimeout(callback, isPause ? 0 : delayMs, ...rest);
  }) as typeof setTimeout;
  return isImpatient.run(true, work).finally(() => {
    globalThis.setTimeout = setRealTimeout;
  });
}
