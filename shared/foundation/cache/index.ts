// Caches a read. Callers at the same time share one read, and an expired value is never served, not even while reads
// fail. If an old value is better than none (as for the catalogue), this is the wrong cache.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../time/index.ts';

interface ReadCacheOptions<Value> {
  readonly sizeMax: number;
  /** Returns the size of a value, above 0; 1 if absent. */
  readonly sizeOf?: (value: Value) => number;
  /**
   * Age up to which a value is served, counted from the start of its read, because the answer may be old when it
   * arrives.
   */
  readonly freshMs?: number;
  /**
   * Decides whether a value is cached. A value that refuses calls, and may change at any moment, should not be cached.
   * If absent, all values are cached.
   */
  readonly keeps?: (value: Value & {}) => boolean;
  readonly clock: Clock;
}

interface ReadCache<Value> {
  /**
   * Returns the cached value, or the result of `read`. A failure, `undefined` and a value that `keeps` excludes are not
   * cached and displace nothing.
   */
  get(key: string, read: () => Promise<Value>): Promise<Value>;
  /** The cached value, if there is one. */
  peek(key: string): (Value & {}) | undefined;
}

interface OpenRead<Value> {
  readonly startedAtMs: number;
  readonly value: Promise<Value>;
}

export function createReadCache<Value>(options: ReadCacheOptions<Value>): ReadCache<Value> {
  const { sizeMax, sizeOf = () => 1, freshMs = Number.POSITIVE_INFINITY, keeps = () => true, clock } = options;
  const age = freshMs === Number.POSITIVE_INFINITY ? undefined : { freshMs, clock };
  const values = createCache<Value & {}>({ sizeMax, age });
  /** Reads under way, bounded by the callers that wait for them. */
  const openReads = new Map<string, OpenRead<Value>>();

  function start(key: string, read: () => Promise<Value>): Promise<Value> {
    const open = { startedAtMs: clock.nowMs(), value: read() };
    openReads.set(key, open);
    const settle = (value?: Value): void => {
      // A later read of this key has replaced this read.
      if (openReads.get(key) !== open) return;
      openReads.delete(key);
      if (value !== undefined && value !== null && keeps(value))
        values.set(key, value, { size: sizeOf(value), start: open.startedAtMs });
    };
    open.value.then(settle, () => settle());
    return open.value;
  }

  return {
    peek: (key) => values.get(key),
    async get(key, read) {
      const value = values.get(key);
      if (value !== undefined) return value;
      const open = openReads.get(key);
      const isFresh = open !== undefined && clock.nowMs() - open.startedAtMs < freshMs;
      return isFresh ? open.value : start(key, read);
    },
  };
}

// Defines bounded caches, which drop the least recently used value first.

export type Cache<Value extends {}> = LRUCache<string, Value>;

interface CacheOptions<Value> {
  /** Upper bound of the sum of all sizes. Each value counts 1 unless `set` is given its size. */
  readonly sizeMax: number;
  /** Age from which an entry is not served; `freshMs` is more than 1. If absent, entries do not expire. */
  readonly age?: { readonly freshMs: number; readonly clock: Clock } | undefined;
  /** Called with each value that leaves the cache, for whatever reason. */
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
  // Every check of an age asks the injected clock; the library's default caches the time for a millisecond with a
  // timer.
  ttlResolution: 0,
  perf: { now: () => clock.nowMs() },
});

/** Returns a function that makes the value on its first call and returns the same value afterwards. */
export function once<Value>(make: () => Value): () => Value {
  let memo: { readonly value: Value } | undefined;
  return () => {
    memo ??= { value: make() };
    return memo.value;
  };
}
