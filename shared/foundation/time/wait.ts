// Waits that end: after a time by the clock, on a signal, or with a TimeBudget. The work itself continues; what it brings
// too late, a failure included, is dropped and never becomes an unhandled rejection.
import type { Clock } from './clock.ts';

/** Registers what to call at the end of a wait; returns how to cancel that. */
type EndOfWait = (end: () => void) => () => void;

const onAbort =
  (signal: AbortSignal): EndOfWait =>
  (end) => {
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  };

/** What the promise brings, or what `otherwise` returns or throws where the wait ends first. */
export function boundedWait<Value, Otherwise>(
  promise: Promise<Value>,
  endOfWait: EndOfWait,
  otherwise: () => Otherwise,
): Promise<Value | Otherwise> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<Value | Otherwise>();
  const cancel = endOfWait(() => {
    try {
      resolve(otherwise());
    } catch (error) {
      reject(error);
    }
  });
  // Cancelled before the caller goes on: its next wait may count on what this one has left.
  promise.then(
    (value) => {
      cancel();
      resolve(value);
    },
    (error) => {
      cancel();
      reject(error);
    },
  );
  return ended;
}

/** What the promise brings; once `limitMs` have passed by the clock, what `otherwise` returns or throws. */
export const waitAtMost = <Value, Otherwise>(
  clock: Clock,
  limitMs: number,
  promise: Promise<Value>,
  otherwise: () => Otherwise,
): Promise<Value | Otherwise> => boundedWait(promise, (end) => clock.after(limitMs, end), otherwise);

/** What the promise brings, or `undefined` as soon as the signal aborts. Rejects as the promise does. */
export const untilAborted = <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> =>
  boundedWait(promise, onAbort(signal), () => undefined);

/** The same for waits that follow one another, with one listener for all of them. */
export function waitsUntilAborted(signal: AbortSignal) {
  let end = () => {};
  const onEnd = () => end();
  signal.addEventListener('abort', onEnd, { once: true });
  return {
    wait<Value>(promise: Promise<Value>): Promise<Value | undefined> {
      const { promise: ended, resolve, reject } = Promise.withResolvers<Value | undefined>();
      end = () => resolve(undefined);
      if (signal.aborted) end();
      promise.then(resolve, reject);
      return ended;
    },
    stop: () => signal.removeEventListener('abort', onEnd),
  };
}

/** Resolves after `delayMs`, or at once when `signal` aborts: the caller looks at the signal. */
export async function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(delayMs, resolve);
  await (signal === undefined ? promise : untilAborted(promise, signal));
  cancel();
}

/** Calls back behind everything that this turn of the event loop has to serve, however many ask. */
export const atTurnEnd = (callback: () => void): void => void setImmediate(callback);

/** Those that wait for a turn. Each gets one of its own: what is long in steps is not long because many do it at once. */
const waitingForTurn: (() => void)[] = [];

function giveTurn(): void {
  waitingForTurn.shift()?.();
  if (waitingForTurn.length > 0) setImmediate(giveTurn);
}

/** Resolves behind everything that this turn of the event loop has to serve: answers that have come, requests, timers. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (waitingForTurn.push(resolve) === 1) setImmediate(giveTurn);
  });
