// Many reads, some of them at a time.

/** Reads of the store that wait together. */
export const parallelReads = 16;

export async function collect<Value>(source: AsyncIterable<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for await (const value of source) values.push(value);
  return values;
}

/** The results in the order of the items. Rejects with the first failure. */
export async function mapParallel<Item, Result>(
  items: readonly Item[],
  parallelMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  // The workers draw from one iterator: each item is worked on once.
  const entries = items.entries();
  const drawRest = async () => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: parallelMax }, drawRest));
  return results;
}

/** What all sources hold, as it arrives; `parallelMax` of them are open at a time. */
export async function* mergeParallel<Value>(
  sources: Iterable<AsyncIterable<Value>>,
  parallelMax: number,
): AsyncGenerator<Value> {
  const waiting = sources[Symbol.iterator]();
  const open = new Map<AsyncIterator<Value>, Promise<{ source: AsyncIterator<Value>; step: IteratorResult<Value> }>>();
  const advance = (source: AsyncIterator<Value>) => {
    open.set(
      source,
      source.next().then((step) => ({ source, step })),
    );
  };
  const openNext = () => {
    const { value, done } = waiting.next();
    if (done !== true) advance(value[Symbol.asyncIterator]());
  };
  for (let count = 0; count < parallelMax; count += 1) openNext();
  while (open.size > 0) {
    const { source, step } = await Promise.race(open.values());
    if (step.done === true) {
      open.delete(source);
      openNext();
    } else {
      advance(source);
      yield step.value;
    }
  }
}
