// Limits the time of another party's answers, shared by successive waits. Time in which this process was too busy to
// notice an answer does not count.
import type { Clock } from './clock.ts';
import { boundedWait } from './wait.ts';

/**
 * Length of a slice. Time is counted in slices, and all waits of a process share the timer of a slice, because most
 * waits end before it. A slice that ends late, because the event loop was busy, counts as no longer than this.
 */
const sliceMs = 100;
/**
 * One wait ends after this time by the clock, however busy the process is, or after the budget if that is longer.
 */
const waitMaxMs = 10_000;

export interface TimeBudget {
  /**
   * Returns the value of the promise; throws the timeout error once this wait and those before it have used up the
   * budget.
   */
  wait<Value>(promise: Promise<Value>): Promise<Value>;
}

export function startTimeBudget(clock: Clock, limitMs: number, timeoutError: () => Error): TimeBudget {
  let leftMs = limitMs;
  return {
    wait: (promise) =>
      boundedWait(
        promise,
        (end) => {
          const stop = countDown(clock, leftMs, end);
          return () => {
            leftMs = Math.min(leftMs, stop());
          };
        },
        () => {
          leftMs = 0;
          throw timeoutError();
        },
      ),
  };
}

/**
 * Calls `onEnd` once `limitMs` are used up. Returns a function that stops the countdown and returns the remaining time.
 */
function countDown(clock: Clock, limitMs: number, onEnd: () => void): () => number {
  const untilMs = clock.nowMs() + Math.max(limitMs, waitMaxMs);
  let leftMs = limitMs;
  let sliceStartedAtMs = clock.nowMs();
  let cancel = () => {};
  const next = () => {
    sliceStartedAtMs = clock.nowMs();
    if (leftMs > 0 && sliceStartedAtMs >= untilMs) leftMs = 0;
    if (leftMs === 0) return onEnd();
    const isLast = leftMs <= sliceMs;
    const end = () => {
      leftMs = isLast ? 0 : leftMs - Math.min(sliceMs, clock.nowMs() - sliceStartedAtMs);
      next();
    };
    cancel = isLast ? clock.after(leftMs, end) : atSliceEnd(clock, end);
  };
  next();
  return () => {
    cancel();
    return Math.max(0, leftMs - Math.min(sliceMs, clock.nowMs() - sliceStartedAtMs));
  };
}

const sliceEnds = new WeakMap<Clock, Set<() => void>>();

/** Calls back at the end of a slice. The returned function cancels it. */
function atSliceEnd(clock: Clock, callback: () => void): () => void {
  const callbacks = sliceEnds.get(clock) ?? openSlice(clock);
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

function openSlice(clock: Clock): Set<() => void> {
  const callbacks = new Set<() => void>();
  sliceEnds.set(clock, callbacks);
  clock.after(sliceMs, () => {
    sliceEnds.delete(clock);
    for (const callback of callbacks) callback();
  });
  return callbacks;
}

// One deadline is passed through queueing, attempts and stores. The deadline only shows whether time is left, and the
// stage that checks it decides between request_deadline_exceeded and execution_deadline_exceeded.

export interface Deadline {
  readonly atMs: number;
  readonly remainingMs: () => number;
  readonly isOver: () => boolean;
}

/** Returns a deadline `budgetMs` after `startMs` (the arrival of the request). */
export function startDeadline(clock: Clock, startMs: number, budgetMs: number): Deadline {
  const atMs = startMs + budgetMs;
  return {
    atMs,
    remainingMs: () => Math.max(0, atMs - clock.nowMs()),
    isOver: () => clock.nowMs() >= atMs,
  };
}
