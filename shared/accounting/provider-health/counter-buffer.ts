// Counts that wait for their write. Calls merge into counters, so memory grows with what is counted and not with the
// number of calls, and it ends at a bound: what does not fit is not counted.

/** Different counters that wait at a time: about 1 MB, and far more than the calls of one write's duration make. */
export const waitingCountersMax = 10_000;
/** Counters in one write: the expression stays below 2 KB where 4 KB are allowed. */
const countersPerWriteMax = 150;

export interface CounterWrite {
  readonly group: number;
  readonly counts: readonly (readonly [name: string, count: number])[];
}

export interface CounterBuffer {
  add(group: number, counters: readonly string[]): void;
  isEmpty(): boolean;
  /** Everything that waits, as writes; none of it waits any longer. */
  take(): CounterWrite[];
}

export function createCounterBuffer(): CounterBuffer {
  let groups = new Map<number, Map<string, number>>();
  let waiting = 0;

  return {
    add(group, counters) {
      const counts = groups.get(group) ?? new Map<string, number>();
      for (const name of counters) {
        const known = counts.get(name);
        if (known === undefined && waiting >= waitingCountersMax) continue;
        if (known === undefined) waiting += 1;
        counts.set(name, (known ?? 0) + 1);
      }
      if (counts.size > 0) groups.set(group, counts);
    },
    isEmpty: () => waiting === 0,
    take() {
      const taken = groups;
      groups = new Map();
      waiting = 0;
      return [...taken].flatMap(([group, counts]) =>
        inPieces([...counts], countersPerWriteMax).map((piece) => ({ group, counts: piece })),
      );
    },
  };
}

const inPieces = <Value>(values: readonly Value[], sizeMax: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / sizeMax) }, (_, piece) =>
    values.slice(piece * sizeMax, (piece + 1) * sizeMax),
  );
