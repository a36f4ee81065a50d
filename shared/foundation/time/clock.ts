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

const neverAborts = new AbortController().signal;

/** Resolves after `delayMs`, or at once when `signal` aborts: the caller looks at the signal. */
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

/** The promise, or an error of the caller's choice once `limitMs` have passed. The work itself goes on unheard. */
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
