// Calls in this process, also those that have no slot yet: a hint that needs no store, and decides nothing.
export interface CallsUnderWay {
  readonly of: (publicId: string) => number;
  /** Of all keys. */
  readonly all: () => number;
  /** Returns what ends it. */
  readonly enter: (publicId: string) => () => void;
}

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
    all: () => all,
    enter(publicId) {
      add(publicId, 1);
      return () => add(publicId, -1);
    },
  };
}
