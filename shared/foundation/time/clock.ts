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

// Lengths of time as people write them: a whole number and a unit.

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
