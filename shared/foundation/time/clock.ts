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

const neverAborts = new AbortController().signal;

/** Resolves after `delayMs`, or at once when `signal` aborts: the caller checks the signal. */
export const sleep = (clock: Clock, delayMs: number, signal: AbortSignal = neverAborts): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.after(delayMs, done);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    }
  });

/** The promise, or an error of the caller's choice once `limitMs` have passed. The work itself continues, its outcome is ignored. */
export function within<Value>(
  clock: Clock,
  limitMs: number,
  promise: Promise<Value>,
  timeoutError: () => Error,
): Promise<Value> {
  const { promise: limited, resolve, reject } = Promise.withResolvers<Value>();
  const cancel = clock.after(limitMs, () => reject(timeoutError()));
  promise.then(resolve, reject).finally(cancel);
  return limited;
}
