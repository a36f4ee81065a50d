// Limits the time without a sign of activity. A stream has hundreds of such signs, so a sign only postpones the limit,
// and the running timer checks the limit when it fires. A new timer for each sign would cost more.
import type { Clock } from './clock.ts';

interface IdleTimer {
  /** Calls back once this time has passed, unless it is started again or paused before. */
  start(limitMs: number): void;
  /** Lifts the limit until the next start. */
  pause(): void;
  /** Pauses, and leaves nothing that keeps the process running. */
  stop(): void;
}

export function createIdleTimer(clock: Clock, onEnd: () => void): IdleTimer {
  let endsAtMs = Number.POSITIVE_INFINITY;
  /** Time at which the running timer fires. */
  let looksAtMs = Number.POSITIVE_INFINITY;
  let cancel = () => {};

  function lookIn(delayMs: number): void {
    cancel();
    looksAtMs = clock.nowMs() + delayMs;
    cancel = clock.after(delayMs, look);
  }

  function look(): void {
    looksAtMs = Number.POSITIVE_INFINITY;
    const leftMs = endsAtMs - clock.nowMs();
    if (leftMs <= 0) {
      endsAtMs = Number.POSITIVE_INFINITY;
      onEnd();
    } else if (Number.isFinite(leftMs)) lookIn(leftMs);
  }

  const pause = () => {
    endsAtMs = Number.POSITIVE_INFINITY;
  };
  return {
    start(limitMs) {
      endsAtMs = clock.nowMs() + limitMs;
      if (endsAtMs < looksAtMs) lookIn(limitMs);
    },
    pause,
    stop() {
      pause();
      cancel();
      looksAtMs = Number.POSITIVE_INFINITY;
    },
  };
}
