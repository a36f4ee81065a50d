// Limits how many calls of a workspace or of the whole service may run at once, if no other write of a call could
// count them. A large pool is spread over shards, each with its part of the slots, so the sum is exact; a slot is
// refused only if every shard was found full.
import { createCache } from '../../foundation/cache/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Counter, Counters, Hold, SettlementOptions } from '../holds/index.ts';

/**
 * Slots per shard. A counter takes some 500 writes a second, two for each call: 50 concurrent calls need as many if
 * each takes 0.2 s.
 */
const slotsPerShard = 50;
/** Maximum shards, because all shards of a full pool are tried within an admission. */
const shardsMax = 32;
/** Maximum number of shards of a pool with a substitute, which is a quarter of the slots of a service. */
const substitutedShardsMax = 8;
/** Maximum number of pools whose last shard is remembered. */
const poolsMax = 1_000;
/** Time for which a pool counts as full, which is as long as a refused client is asked to wait. */
const fullMs = 1_000;

export interface SlotPool {
  /** Key of the pool in the ledger. */
  readonly key: string;
  /** Number of slots, at least 1. */
  readonly slots: number;
  /**
   * True if a call that finds no slot here takes a slot of another pool. All shards are then tried in few steps.
   * Default: false.
   */
  readonly hasSubstitute?: boolean;
}

/** A taken slot, with everything that releasing it needs. */
export interface SlotHold {
  readonly counter: Counter;
  readonly hold: Hold;
}

export interface SlotPools {
  /**
   * Takes a slot. Returns undefined when none is free. Throws StoreUnavailable: a slot that may have been taken
   * expires.
   */
  take(pool: SlotPool, holder: Pick<Hold, 'owner' | 'expiresAtMs'>): Promise<SlotHold | undefined>;
  /** True if this process has found the pool full within the last second, which is only a hint. */
  wasFull(pool: SlotPool): boolean;
  /** Releases a slot once, however often it is called. Throws StoreUnavailable, and may be called again. */
  release(slot: SlotHold, options?: SettlementOptions): Promise<void>;
}

interface SlotPoolsOptions {
  readonly counters: Pick<Counters, 'take' | 'settle'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
}

export function createSlotPools({ counters, clock, randomness }: SlotPoolsOptions): SlotPools {
  /** Last shard of each pool. A process continues where it found a slot last, so that its calls share writes. */
  const lastShards = createCache<number>({ sizeMax: poolsMax });
  const fullPools = createCache<true>({ sizeMax: poolsMax, age: { freshMs: fullMs, clock } });

  return {
    async take(pool, holder) {
      const shards = shardsOf(pool);
      const first = lastShards.get(pool.key) ?? Math.floor(randomness.fraction() * shards.length);
      const hold = { ...holder, amount: 1n };
      for (let probe = 0; probe < shards.length; probe += 1) {
        const index = (first + probe) % shards.length;
        const counter = shards[index];
        if (counter === undefined) continue;
        const { kind } = await counters.take(counter, hold);
        if (kind === 'insufficient') continue;
        lastShards.set(pool.key, index);
        return { counter, hold };
      }
      fullPools.set(pool.key, true);
      return undefined;
    },

    wasFull: ({ key }) => fullPools.get(key) === true,

    async release({ counter, hold }, options) {
      await counters.settle(counter, hold, 0n, options);
    },
  };
}

/** Returns the shards, whose numbers of slots differ by one at most. */
function shardsOf({ key, slots, hasSubstitute = false }: SlotPool): readonly Counter[] {
  const count = Math.min(hasSubstitute ? substitutedShardsMax : shardsMax, Math.ceil(slots / slotsPerShard));
  return Array.from({ length: count }, (_none, index) => {
    const limit = BigInt(Math.floor(slots / count) + (index < slots % count ? 1 : 0));
    return {
      table: 'ledger',
      key: index === 0 ? key : `${key}#${index}`,
      balances: [{ attribute: 'balance_slots', limit }],
      ...(hasSubstitute ? { spareSlotsMin: (limit + 1n) / 2n } : {}),
    };
  });
}

// Counts the calls in this process, including calls without a slot yet. The count is a hint that needs no store, and
// decides nothing.
export interface CallsUnderWay {
  readonly countOf: (publicId: string) => number;
  /** Returns the number of calls of all keys. */
  readonly all: () => number;
  /** True if enough calls of all keys run that batching their work pays. On Lambda a process has one call. */
  readonly isBusy: () => boolean;
  /** Counts a call. Returns a function that ends it. */
  readonly enter: (publicId: string) => () => void;
}

/** Number of calls from which requests to the store and writes of sockets take most of the processor. */
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
    countOf: (publicId) => counts.get(publicId) ?? 0,
    all: () => all,
    isBusy: () => all >= manyCallsMin,
    enter(publicId) {
      add(publicId, 1);
      return () => add(publicId, -1);
    },
  };
}
