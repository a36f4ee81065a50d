// A limit on silence that every sign of life pushes back: a stream has hundreds. To make and cancel a timer for each costs
// more than to look, when the one that runs has ended, how far it was pushed back.
import type { Clock } from './clock.ts';

interface IdleTimer {
  /** Calls back once this time has passed, unless it is started again or paused before. */
  start(limitMs: number): void;
  /** Lifts the limit until the next start. */
  pause(): void;
  /** Paused, and nothing is left that keeps the process running. */
  stop(): void;
}

export function createIdleTimer(clock: Clock, onEnd: () => void): IdleTimer {
  let endsAtMs = Number.POSITIVE_INFINITY;
  /** When the running timer fires. */
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
