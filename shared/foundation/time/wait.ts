// The one way to bound a wait: by time, or by a signal. The work itself continues; what it brings too late, a failure
// included, is dropped and never becomes an unhandled rejection.
import type { Clock } from './clock.ts';

/** Registers what to call at the end of a wait; returns how to cancel that. */
type EndOfWait = (end: () => void) => () => void;

const afterMs =
  (clock: Clock, limitMs: number): EndOfWait =>
  (end) =>
    clock.after(limitMs, end);

const onAbort =
  (signal: AbortSignal): EndOfWait =>
  (end) => {
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  };

/** What the promise brings, or what `otherwise` returns or throws where the wait ends first. */
export function bounded<Value, Otherwise>(
  promise: Promise<Value>,
  endOfWait: EndOfWait,
  otherwise: () => Otherwise,
): Promise<Value | Otherwise> {
  const { promise: settled, resolve, reject } = Promise.withResolvers<Value | Otherwise>();
  const cancel = endOfWait(() => {
    try {
      resolve(otherwise());
    } catch (error) {
      reject(error);
    }
  });
  promise.then(resolve, reject).finally(cancel);
  return settled;
}

/** The promise, or an error of the caller's choice once `limitMs` have passed. */
export const within = <Value>(
  clock: Clock,
  limitMs: number,
  promise: Promise<Value>,
  timeoutError: () => Error,
): Promise<Value> =>
  bounded(promise, afterMs(clock, limitMs), () => {
    throw timeoutError();
  });

/** True when the promise settled within `limitMs`, false when it did not. Rejects as the promise does. */
export const settledWithin = (clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<boolean> =>
  bounded(
    promise.then(() => true),
    afterMs(clock, limitMs),
    () => false,
  );

/** What the promise brings, or `undefined` as soon as the signal aborts. Rejects as the promise does. */
export const untilAborted = <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> =>
  bounded(promise, onAbort(signal), () => undefined);

/** Resolves after `delayMs`, or at once when `signal` aborts: the caller looks at the signal. */
export async function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(delayMs, resolve);
  await (signal === undefined ? promise : untilAborted(promise, signal));
  cancel();
}

/** Resolves behind everything that this turn of the event loop has to serve: answers that have come, requests, timers. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
