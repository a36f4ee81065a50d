// Reads the time and sets timers. This is the only file that does. All other code gets a Clock as a parameter.

export interface Clock {
  /** Returns the milliseconds since the epoch. */
  nowMs(): number;
  /** Calls back once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    if (delayMs >= sharedDelayMinMs) return afterShared(delayMs, callback);
    const timer = setTimeout(callback, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};

// Limits of a second and more end up to 50 ms later than requested, so that limits of concurrent calls share timers.
// Nearly all timers are cancelled, and a call sets several.
const sharedDelayMinMs = 1_000;
const sharedStepMs = 50;

interface SharedTimer {
  readonly callbacks: Set<{ readonly call: () => void }>;
  readonly timer: NodeJS.Timeout;
}

/** Timers by their end, counted in steps since the process started. */
const sharedTimers = new Map<number, SharedTimer>();

function afterShared(delayMs: number, callback: () => void): () => void {
  const nowMs = performance.now();
  const endStep = Math.ceil((nowMs + delayMs) / sharedStepMs);
  const shared = sharedTimers.get(endStep) ?? openSharedTimer(endStep, endStep * sharedStepMs - nowMs);
  const entry = { call: callback };
  if (shared.callbacks.add(entry).size === 1) shared.timer.ref();
  return () => {
    // A timer without callbacks does not keep the process running.
    if (shared.callbacks.delete(entry) && shared.callbacks.size === 0) shared.timer.unref();
  };
}

function openSharedTimer(endStep: number, delayMs: number): SharedTimer {
  const callbacks: SharedTimer['callbacks'] = new Set();
  const end = () => {
    sharedTimers.delete(endStep);
    for (const entry of callbacks) {
      // A callback that ran before may have cancelled this one.
      if (callbacks.delete(entry)) callApart(entry.call);
    }
  };
  const shared = { callbacks, timer: setTimeout(end, delayMs) };
  sharedTimers.set(endStep, shared);
  return shared;
}

/** Runs the callback. An error ends the process as it would from a timer of its own, and prevents no other callback. */
function callApart(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}

/**
 * Starts to measure how long work of this thread takes, in milliseconds. Unlike the clock the measure never jumps, and
 * tests cannot move it.
 */
export function startStopwatch(): () => number {
  const startedAtMs = performance.now();
  return () => performance.now() - startedAtMs;
}

// Parses and writes durations as people write them, as a whole number and a unit.

export const dayMs = 86_400_000;

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs } as const;

/** Parses `90s`, `24h` or `30d` to milliseconds; returns undefined for any other text or a unit that is not listed. */
export function readDuration(written: string, units: readonly (keyof typeof unitMs)[]): number | undefined {
  const [, count, unit] = /^(\d{1,6})([a-z]{1,2})$/.exec(written) ?? [];
  const known = units.find((one) => one === unit);
  return known === undefined ? undefined : Number(count) * unitMs[known];
}

/** Formats an instant as JSON does: `2026-11-22T20:15:00.000Z`. Null stays null. */
export function instantOf<Time extends number | null>(epochMs: Time): string | Extract<Time, null>;
export function instantOf(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString();
}
