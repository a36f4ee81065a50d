// A bounded memory of what was read: callers at the same time share one read, and what was used longest ago goes first.
import type { Clock } from '../time/index.ts';

export interface MemoryOptions<Value> {
  /** What is kept weighs at most this, all together. */
  readonly weightMax: number;
  readonly weightOf: (value: Value) => number;
  /** How old a value may be, counted from the question. */
  readonly freshMs: number;
  readonly clock: Clock;
}

export interface Memory<Value> {
  /** The remembered value, or what `read` gives. Failures and undefined are not remembered. */
  get(key: string, read: () => Promise<Value>): Promise<Value>;
}

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly askedAtMs: number;
  /** Zero until the value is there. */
  weight: number;
}

export function createMemory<Value>({ weightMax, weightOf, freshMs, clock }: MemoryOptions<Value>): Memory<Value> {
  /** A Map keeps the order of insertion: the first entry is the one that was used longest ago. */
  const entries = new Map<string, Entry<Value>>();
  let weight = 0;

  function drop(key: string, entry: Entry<Value>): void {
    if (entries.get(key) !== entry) return;
    entries.delete(key);
    weight -= entry.weight;
  }

  function settle(key: string, entry: Entry<Value>, value: Value): void {
    if (value === undefined) drop(key, entry);
    // It may have been dropped or asked for anew while it was read.
    if (entries.get(key) !== entry) return;
    entry.weight = weightOf(value);
    weight += entry.weight;
    for (const [oldest, old] of entries) {
      if (weight <= weightMax) return;
      drop(oldest, old);
    }
  }

  function ask(key: string, read: () => Promise<Value>): Entry<Value> {
    const entry: Entry<Value> = { value: read(), askedAtMs: clock.nowMs(), weight: 0 };
    entry.value.then(
      (value) => settle(key, entry, value),
      () => drop(key, entry),
    );
    return entry;
  }

  return {
    async get(key, read) {
      const known = entries.get(key);
      if (known !== undefined && clock.nowMs() - known.askedAtMs < freshMs) {
        entries.delete(key);
        entries.set(key, known);
        return known.value;
      }
      if (known !== undefined) drop(key, known);
      const entry = ask(key, read);
      entries.set(key, entry);
      return entry.value;
    },
  };
}
