// Bounded caches: what was used longest ago is dropped first.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../time/index.ts';

export type Cache<Value extends {}> = LRUCache<string, Value>;

export interface CacheOptions<Value> {
  /** Upper bound of the sum of all sizes. Each value counts 1 unless `set` is given its size. */
  readonly sizeMax: number;
  /** From this age on an entry is not served. `freshMs` is more than 1. Left out: entries have no age. */
  readonly age?: { readonly freshMs: number; readonly clock: Clock } | undefined;
  /** Called with what left the cache, for whatever reason. */
  readonly onDrop?: (value: Value) => void;
}

export const createCache = <Value extends {}>({ sizeMax, age, onDrop }: CacheOptions<Value>): Cache<Value> =>
  new LRUCache<string, Value>({
    maxSize: sizeMax,
    sizeCalculation: () => 1,
    ...(age === undefined ? {} : ttlOptions(age)),
    ...(onDrop === undefined ? {} : { dispose: onDrop }),
  });

const ttlOptions = ({ freshMs, clock }: NonNullable<CacheOptions<unknown>['age']>) => ({
  // The library still serves an entry that is exactly `ttl` old.
  ttl: freshMs - 1,
  // Every look at the age asks our clock; the library's default keeps the time for a millisecond by a timer.
  ttlResolution: 0,
  perf: { now: () => clock.nowMs() },
});

/** A value that is made on first use, and kept. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
