// Time that another party has to answer. A process that is too busy to hear an answer must not take it for a missing one:
// such time does not count.
import type { Clock } from './clock.ts';
import { bounded } from './wait.ts';

/** Time is counted in slices. One that ends late, because the event loop was busy, counts as no longer than this. */
const sliceMs = 100;
/** By the clock, however busy the process is (contract 19). */
const waitMaxMs = 10_000;

/** Calls back when the other party has had `limitMs`, or after `waitMaxMs`. Returns what stops it and tells what is left. */
export function countAnswerTime(clock: Clock, limitMs: number, onEnd: () => void): () => number {
  const untilMs = clock.nowMs() + Math.max(limitMs, waitMaxMs);
  let leftMs = limitMs;
  let sliceStartedAtMs = clock.nowMs();
  let cancel = () => {};
  const next = () => {
    sliceStartedAtMs = clock.nowMs();
    if (leftMs > 0 && sliceStartedAtMs >= untilMs) leftMs = 0;
    if (leftMs === 0) return onEnd();
    const slice = Math.min(leftMs, sliceMs);
    cancel = clock.after(slice, () => {
      leftMs -= slice;
      next();
    });
  };
  next();
  return () => {
    cancel();
    return Math.max(0, leftMs - Math.min(sliceMs, clock.nowMs() - sliceStartedAtMs));
  };
}

/** One budget of answer time for several waits, one after the other. */
export interface AnswerTime {
  /** The promise, or an error of the caller's choice once the budget is used up. */
  wait<Value>(promise: Promise<Value>, timeoutError: () => Error): Promise<Value>;
}

export function startAnswerTime(clock: Clock, limitMs: number): AnswerTime {
  let leftMs = limitMs;
  return {
    async wait(promise, timeoutError) {
      let stop = (): number => leftMs;
      const counting = (end: () => void) => {
        stop = countAnswerTime(clock, leftMs, end);
        return stop;
      };
      try {
        return await bounded(promise, counting, () => {
          throw timeoutError();
        });
      } finally {
        leftMs = stop();
      }
    },
  };
}
