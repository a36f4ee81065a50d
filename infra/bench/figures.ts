// The few statistics a bench needs. Percentiles are values that were measured, never interpolated ones.

/** `fraction` 0.5 is the median. NaN for no values. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(fraction * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** For people: 3 digits that matter are enough for anything measured here. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const magnitude = Math.abs(value);
  const decimals = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2;
  return value.toFixed(decimals);
}
