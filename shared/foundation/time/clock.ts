// The one home of the clock and of timers. Everything else is handed a Clock.

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Calls back once after `delayMs`; the returned function takes it back. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};

/** Starts to measure how long work of this thread takes, in milliseconds: it never jumps, and no test moves it. */
export function startStopwatch(): () => number {
  const startedAtMs = performance.now();
  return () => performance.now() - startedAtMs;
}
