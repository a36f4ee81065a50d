// A bounded memory of what was read. Callers at the same time share one read, what was used longest ago goes first, and
// an old value is never served, not even while reads fail: where it would be better than none (the catalogue), this is
// the wrong memory.
import type { Clock } from '../time/index.ts';

export interface MemoryOptions<Value> {
  /** What is kept weighs at most this, all together. */
  readonly weightMax: number;
  /** More than zero. One each where it is left out. */
  readonly weightOf?: (value: Value) => number;
  /** How old a value may be, counted from before the question: the answer may be old by the time it arrives. */
  readonly freshMs: number;
  readonly clock: Clock;
}

export interface Memory<Value> {
  /** The remembered value, or what `read` gives. Failures and undefined are not remembered and displace nothing. */
  get(key: string, read: () => Promise<Value>): Promise<Value>;
}

interface Entry<Value> {
  readonly askedAtMs: number;
  readonly value: Promise<Value>;
  /** Zero while it is read: open reads are bounded by the callers that wait for them, and none goes to make room. */
  weight: number;
}

export function createMemory<Value>(options: MemoryOptions<Value>): Memory<Value> {
  const { weightMax, weightOf = () => 1, freshMs, clock } = options;
  /** A Map keeps the order of insertion: the first entry is the one that was used longest ago. */
  const entries = new Map<string, Entry<Value>>();
  let weight = 0;

  function drop(key: string, entry: Entry<Value>): void {
    entries.delete(key);
    weight -= entry.weight;
  }

  function settle(key: string, entry: Entry<Value>, value: Value | undefined): void {
    // A later question took its place.
    if (entries.get(key) !== entry) return;
    if (value === undefined) entries.delete(key);
    else entry.weight = weightOf(value);
    weight += entry.weight;
    for (const [oldest, old] of entries) {
      if (weight <= weightMax) return;
      if (old.weight > 0) drop(oldest, old);
    }
  }

  function ask(key: string, read: () => Promise<Value>): Entry<Value> {
    const entry: Entry<Value> = { askedAtMs: clock.nowMs(), value: read(), weight: 0 };
    entry.value.then(
      (value) => settle(key, entry, value),
      () => settle(key, entry, undefined),
    );
    return entry;
  }

  return {
    async get(key, read) {
      const known = entries.get(key);
      const isFresh = known !== undefined && clock.nowMs() - known.askedAtMs < freshMs;
      if (known !== undefined && !isFresh) drop(key, known);
      const entry = isFresh ? known : ask(key, read);
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
  };
}
