// Calls in this process, also those that have no slot yet: a hint that needs no store, and decides nothing.
export interface CallsUnderWay {
  readonly of: (publicId: string) => number;
  /** So many, of all keys, that what each of them does by itself is worth doing for several at once. On Lambda a process has one. */
  readonly areMany: () => boolean;
  /** Returns what ends it. */
  readonly enter: (publicId: string) => () => void;
}

/** From here on requests to the store and writes of sockets take most of the processor. */
const manyCallsMin = 16;

export function createCallsUnderWay(): CallsUnderWay {
  const counts = new Map<string, number>();
  let all = 0;
  const add = (publicId: string, change: number): void => {
    all += change;
    const count = (counts.get(publicId) ?? 0) + change;
    if (count === 0) counts.delete(publicId);
    else counts.set(publicId, count);
  };
  return {
    of: (publicId) => counts.get(publicId) ?? 0,
    areMany: () => all >= manyCallsMin,
    enter(publicId) {
      add(publicId, 1);
      return () => add(publicId, -1);
    },
  };
}
