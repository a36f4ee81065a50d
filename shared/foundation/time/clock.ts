// The only file that reads the time and sets timers. Everything else gets a Clock as a parameter.

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Calls back once after `delayMs`; the returned function cancels it. */
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
