// How many calls of a workspace or of the whole service may be in flight at once, where no other write of a call could count
// them. A large pool is spread over shards, each with its part of the slots, so the sum is exact; a slot is
// refused only where every shard was found full.
import { createCache } from '../../foundation/cache/index.ts';
import type { Counter, Counters, Hold, SettlementOptions } from '../holds/index.ts';

/** A counter takes some 500 writes a second, two for each call: 50 calls at once are as many where each takes 0.2 s. */
const slotsPerShard = 50;
/** A full pool is looked through within an admission. */
const shardsMax = 32;
/** Pools whose last shard is remembered. */
const poolsMax = 1_000;

export interface SlotPool {
  /** In the ledger. */
  readonly key: string;
  /** At least 1. */
  readonly slots: number;
}

/** A slot that was taken: what its giveBack needs. */
export interface SlotHold {
  readonly counter: Counter;
  readonly hold: Hold;
}

export interface SlotPools {
  /** Undefined: none is free. Throws StoreUnavailable: what may have been taken ends by itself. */
  take(pool: SlotPool, holder: Pick<Hold, 'owner' | 'expiresAtMs'>): Promise<SlotHold | undefined>;
  /** Once, however often it is asked. Throws StoreUnavailable, and asking again is safe. */
  giveBack(slot: SlotHold, options?: SettlementOptions): Promise<void>;
}

export function createSlotPools(counters: Pick<Counters, 'take' | 'settle'>, fraction: () => number): SlotPools {
  /** A process goes on where it found a slot last, so that its calls share writes. */
  const lastShards = createCache<number>({ sizeMax: poolsMax });

  return {
    async take(pool, holder) {
      const shards = shardsOf(pool);
      const first = lastShards.get(pool.key) ?? Math.floor(fraction() * shards.length);
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
      return undefined;
    },

    async giveBack({ counter, hold }, options) {
      await counters.settle(counter, hold, 0n, options);
    },
  };
}

/** Parts that differ by one slot at most. */
export function shardsOf({ key, slots }: SlotPool): readonly Counter[] {
  const count = Math.min(shardsMax, Math.ceil(slots / slotsPerShard));
  return Array.from({ length: count }, (_none, index) => ({
    table: 'ledger',
    key: index === 0 ? key : `${key}#${index}`,
    balances: [
      { attribute: 'balance_slots', limit: BigInt(Math.floor(slots / count) + (index < slots % count ? 1 : 0)) },
    ],
  }));
}

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
