// Runs many reads, a bounded number of them at a time.

/** Maximum number of store reads at a time. */
export const parallelReads = 16;

export async function collect<Value>(source: AsyncIterable<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for await (const value of source) values.push(value);
  return values;
}

/**
 * Joins promises into one. Returns undefined if there is none, because most calls have nothing to wait for at most
 * points.
 */
export function awaitAll(work: readonly (Promise<unknown> | undefined)[]): Promise<unknown> | undefined {
  const startedWork = work.filter((one) => one !== undefined);
  return startedWork.length > 1 ? Promise.all(startedWork) : startedWork[0];
}

/** Returns the results in the order of the items. Rejects with the first failure. */
export async function mapParallel<Item, Result>(
  items: readonly Item[],
  parallelMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // The workers share one iterator, so that each item is processed once.
  const entries = items.entries();
  const drawRest = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: parallelMax }, drawRest));
  return results;
}

/** Approximate number of values that wait for their reader. */
const bufferedMax = 100;

/**
 * Yields the values of all sources, in no order; `parallelMax` sources are read at a time. When the reader stops, all
 * sources are ended.
 */
export async function* mergeParallel<Value>(
  sources: Iterable<AsyncIterable<Value>>,
  parallelMax: number,
): AsyncGenerator<Value> {
  const waiting = sources[Symbol.iterator]();
  let buffered: Value[] = [];
  let isStopped = false;
  let filled = Promise.withResolvers<void>();
  let drained = Promise.withResolvers<void>();
  const drawRest = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true && !isStopped; next = waiting.next()) {
      for await (const value of next.value) {
        if (isStopped) return;
        buffered.push(value);
        filled.resolve();
        if (buffered.length >= bufferedMax) await drained.promise;
      }
    }
  };
  let isDone = false;
  const draws = Promise.all(Array.from({ length: parallelMax }, drawRest)).finally(() => {
    isDone = true;
    filled.resolve();
  });
  draws.catch(() => {});
  try {
    while (!isDone || buffered.length > 0) {
      await filled.promise;
      const values = buffered;
      buffered = [];
      filled = Promise.withResolvers();
      if (isDone) filled.resolve();
      drained.resolve();
      drained = Promise.withResolvers();
      yield* values;
    }
    await draws;
  } finally {
    isStopped = true;
    drained.resolve();
  }
}
