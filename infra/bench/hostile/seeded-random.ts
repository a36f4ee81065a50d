// Generates reproducible random numbers. The same seed always gives the same sequence.

export interface SeededRandom {
  /** Returns a number of at least 0 and below 1. */
  fraction(): number;
  /** Returns a whole number below `end`. */
  below(end: number): number;
  chance(probability: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  shuffled<Value>(values: readonly Value[]): Value[];
}

/** Implements Mulberry32, which is short. Its numbers are even enough to choose faults. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(fraction() * end);
  return {
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: (values) => values[below(values.length)] as (typeof values)[number],
    shuffled: (values) =>
      values
        .map((value) => ({ value, rank: fraction() }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ value }) => value),
  };
}
