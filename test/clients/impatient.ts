// Client libraries wait for seconds before they come back. Here they do not wait, and everything else keeps its time.
import { AsyncLocalStorage } from 'node:async_hooks';

/** Longer ones are time limits of requests, not pauses between them. */
const pauseMaxMs = 120_000;

const isImpatient = new AsyncLocalStorage<true>();
const setRealTimeout = globalThis.setTimeout;

/** Timers that this work sets, and no others: those of a gateway in the same process run as they should. */
export function impatiently<Value>(work: () => Promise<Value>): Promise<Value> {
  globalThis.setTimeout = ((callback: () => void, delayMs?: number, ...rest: []) => {
    const isPause = isImpatient.getStore() === true && (delayMs ?? 0) <= pauseMaxMs;
    return setRealTimeout(callback, isPause ? 0 : delayMs, ...rest);
  }) as typeof setTimeout;
  return isImpatient.run(true, work).finally(() => {
    globalThis.setTimeout = setRealTimeout;
  });
}
