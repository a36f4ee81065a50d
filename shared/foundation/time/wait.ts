// Waits that end: after a time by the clock, on a signal, or with a TimeBudget. The work itself continues; a late
// result or failure is dropped and never becomes an unhandled rejection.
import type { Clock } from './clock.ts';

/** Registers the end of a wait; returns a function that cancels it. */
type EndOfWait = (end: () => void) => () => void;

const onAbort =
  (signal: AbortSignal): EndOfWait =>
  (end) => {
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return () => signal.removeEventListener('abort', end);
  };

/** Returns the value of the promise, or the result of `otherwise` if the wait ends first. */
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
  // The timer is cancelled before the caller continues, because its next wait may use the remaining time.
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

/** Returns the value of the promise; after `limitMs` by the clock, the result of `otherwise`. */
export const waitAtMost = <Value, Otherwise>(
  clock: Clock,
  limitMs: number,
  promise: Promise<Value>,
  otherwise: () => Otherwise,
): Promise<Value | Otherwise> => boundedWait(promise, (end) => clock.after(limitMs, end), otherwise);

/** Returns the value of the promise, or `undefined` as soon as the signal aborts. Rejects as the promise does. */
export const untilAborted = <Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> =>
  boundedWait(promise, onAbort(signal), () => undefined);

/** Returns a function like `untilAborted` for successive waits, with one listener for all of them. */
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

/** Resolves after `delayMs`, or at once when `signal` aborts, so the caller checks the signal. */
export async function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(delayMs, resolve);
  await (signal === undefined ? promise : untilAborted(promise, signal));
  cancel();
}

/** Calls back after everything that this turn of the event loop has to serve, however many callers there are. */
export const atTurnEnd = (callback: () => void): void => void setImmediate(callback);

/**
 * Callers that wait for a turn of the event loop. Each gets a turn of its own, so that long work in steps does not
 * block the loop when many callers do it at once.
 */
const waitingForTurn: (() => void)[] = [];

function giveTurn(): void {
  waitingForTurn.shift()?.();
  if (waitingForTurn.length > 0) setImmediate(giveTurn);
}

/** Resolves after everything that this turn of the event loop has to serve, which is answers, requests and timers. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (waitingForTurn.push(resolve) === 1) setImmediate(giveTurn);
  });

const [kibibyte, mebibyte] = [1024, 1024 * 1024];

/**
 * How much of each kind of work is done in one turn of the event loop: some 20 ms of a busy processor. Longer work is
 * divided, with `nextTurn` in between. The kinds differ by what a character costs.
 */
export const inOneTurn = {
  /**
   * One JSON text whose values are read, checked, parsed, translated or quoted, or the values of such a text. A
   * mebibyte of half surrogates, the worst text, takes more than 50 ms.
   */
  jsonCharacters: 512 * kibibyte,
  jsonValues: 10_000,
  /** Messages of a request or parts of an answer, which become several objects each. */
  items: 512,
  /** Events or frames of a stream, each of which is found, parsed and written. */
  events: 256,
  /** Lines of a stream, of which each event has two or three. */
  lines: 512,
  /** Texts that are compared with many patterns, or with a schema. */
  checkedCharacters: 64 * kibibyte,
  /** Bytes that are only searched, hashed, decoded, copied or sent. */
  passedBytes: 2 * mebibyte,
} as const;

/**
 * Passes on available bytes of events, with turns of the event loop after some hundred lines. The bytes are divided
 * only after lines, because an event in several pieces would be copied with each piece. A few long events get no turns,
 * because a stream that waits for a turn keeps them in memory.
 */
export function bytesInTurns(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const bytes = body[Symbol.asyncIterator]();
  let rest: Uint8Array = noBytes;
  let turnLines = 0;
  const take = (read: Uint8Array): IteratorResult<Uint8Array> => {
    let end = 0;
    const lineEndByte = read.includes(lineFeed) ? lineFeed : carriageReturn;
    while (end < read.length && turnLines < inOneTurn.lines) {
      const lineEnd = read.indexOf(lineEndByte, end);
      end = lineEnd === -1 ? read.length : lineEnd + 1;
      if (lineEnd !== -1) turnLines += 1;
    }
    rest = read.subarray(end);
    return { value: read.subarray(0, end) };
  };
  const read = () => bytes.next().then((one) => (one.done === true ? one : take(one.value)));
  const next = (): Promise<IteratorResult<Uint8Array>> => {
    if (turnLines < inOneTurn.lines) return rest.length === 0 ? read() : Promise.resolve(take(rest));
    turnLines = 0;
    return nextTurn().then(next);
  };
  // The iterator has no `return`, so that the rest is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** Ends of lines in a stream of events; a stream may have either. */
const [lineFeed, carriageReturn] = [0x0a, 0x0d];
const noBytes = new Uint8Array();
