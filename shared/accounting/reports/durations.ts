// Durations as counts per value, for percentiles over any number of calls in bounded memory: exact below ten seconds, and
// to four digits beyond.

/** Counts by milliseconds. */
export type Durations = Map<number, number>;

const digits = 4;

export function addDuration(durations: Durations, durationMs: number, times = 1): void {
  const value = Number(durationMs.toPrecision(digits));
  durations.set(value, (durations.get(value) ?? 0) + times);
}

/** The shortest one that `share` of all do not exceed; undefined where there are none. */
export function percentileOf(durations: Durations, share: number): number | undefined {
  const total = durations.values().reduce((sum, count) => sum + count, 0);
  const rank = Math.ceil(total * share);
  let seen = 0;
  for (const [value, count] of [...durations].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= rank) return value;
  }
  return undefined;
}
