// One deadline is carried through queueing, attempts and stores. It only says whether time is
// left: the stage that asks decides between request_deadline_exceeded and execution_deadline_exceeded.
import type { Clock } from './clock.ts';

export interface Deadline {
  readonly atMs: number;
  readonly remainingMs: () => number;
  readonly isOver: () => boolean;
}

/** A deadline `budgetMs` after `startMs` (the arrival of the request). */
export function startDeadline(clock: Clock, startMs: number, budgetMs: number): Deadline {
  const atMs = startMs + budgetMs;
  return {
    atMs,
    remainingMs: () => Math.max(0, atMs - clock.nowMs()),
    isOver: () => clock.nowMs() >= atMs,
  };
}
