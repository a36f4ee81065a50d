// A manual clock that reports its timers: a test advances time only once the gateway waits.

import { nextTurn, sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';

/** Far longer than anything that a test waits for, and less than the time limit of a test. */
const eventuallyMaxMs = 120_000;

export interface WatchedClock extends ManualClock {
  /** Resolves once this many timers of such a delay were set, counted from the last call of `forget`. */
  waitsFor(matches: (delayMs: number) => boolean, times?: number): Promise<void>;
  forget(): void;
}

export function watchedClock(startMs?: number): WatchedClock {
  const clock = manualClock(startMs);
  const delays: number[] = [];
  const waiting = new Set<() => void>();
  return {
    ...clock,
    after(delayMs, callback) {
      delays.push(delayMs);
      for (const look of waiting) look();
      return clock.after(delayMs, callback);
    },
    waitsFor: (matches, times = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if (delays.filter(matches).length < times) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    forget() {
      delays.length = 0;
    },
  };
}

/**
 * Returns a manual clock that knows which of its timers are running. Short pauses (of retries, of the simulator) take
 * no time.
 */
export function awaitingClock(): ManualClock & { isAwaiting(delayMs: number): boolean } {
  const clock = manualClock();
  const running: number[] = [];
  return {
    ...clock,
    isAwaiting: (delayMs) => running.includes(delayMs),
    after(delayMs, callback) {
      running.push(delayMs);
      const end = () => void running.splice(running.indexOf(delayMs), 1);
      const cancel = clock.after(delayMs, () => {
        end();
        callback();
      });
      return () => {
        if (running.includes(delayMs)) end();
        cancel();
      };
    },
  };
}

/**
 * Number of turns, sufficient for work of this process. Other processes need the processor, so a longer wait leaves it
 * to them.
 */
const turnsAtFullLoad = 1_000;
const pauseMs = 5;

/** Resolves when the condition is true, which is checked repeatedly. Rejects if it does not become true in time. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + eventuallyMaxMs;
  for (let turn = 0; !(await condition()); turn += 1) {
    if (performance.now() > endsAtMs) throw new Error(`never came true: ${condition}`);
    await (turn < turnsAtFullLoad ? nextTurn() : sleep(systemClock, pauseMs));
  }
}
