// Waiting with an end. What comes too late, a failure included, is dropped and never becomes an unhandled rejection.
import type { Clock } from '../../foundation/time/index.ts';

/** What `promise` brings, or `undefined` as soon as `signal` aborts. Rejects as the promise does. */
export const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    const done = () => signal.removeEventListener('abort', stop);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    void promise.then(resolve, reject).finally(done);
  });

/** True when `promise` settled within `maxMs`, false when it did not. Rejects as the promise does. */
export const settledWithin = (clock: Clock, promise: Promise<unknown>, maxMs: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(maxMs, () => resolve(false));
    void promise.then(() => resolve(true), reject).finally(cancel);
  });
