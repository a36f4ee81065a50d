// A clock that moves only when a test moves it. Timers fire in their order while it moves.
import type { Clock } from '../../shared/foundation/time/index.ts';

export interface ManualClock extends Clock {
  advance(byMs: number): void;
  /** Returns the number of timers that neither fired nor were cleared. */
  pending(): number;
}

/** Initial time of the clock. */
export const startMs = 1_800_000_000_000;

export function manualClock(nowAtStartMs = startMs): ManualClock {
  let nowMs = nowAtStartMs;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    nowMs: () => nowMs,
    after(delayMs, callback) {
      const timer = { atMs: nowMs + Math.max(0, delayMs), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(byMs) {
      const untilMs = nowMs + byMs;
      for (;;) {
        const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.callback();
      }
      nowMs = untilMs;
    },
    pending: () => timers.size,
  };
}
