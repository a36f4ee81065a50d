// Over how many items the counts of a group are spread: as many as its writes need. No process knows the rate of all, but each item
// counts its writes, so a process that looks at one now and then sees how fast it is written. One that finds it too fast spreads
// its writes further, and marks every item that it writes with how far; others follow, and a rebuild reads so many.
import type { Clock } from '../../foundation/time/index.ts';
import type { Changes, Item } from '../../storage/store/index.ts';
import { readShards, shardsMax, shardsMin, shardsName, windowMs, windowOf, writesName } from './layout.ts';

/** An item of 2 KB takes 500 writes a second. Half of that is planned for. */
const writesPerSecondMax = 250;
/** Below, half as many items would do with some to spare. */
const writesPerSecondMin = writesPerSecondMax / 4;
/** How often a process looks. */
const lookEveryMs = 10_000;
/** Over a shorter time a rate says little. */
const measuredMinMs = 5_000;

interface CounterWritePlace {
  readonly window: number;
  readonly shard: number;
  /** Beside the counts. */
  readonly changes: Changes;
  /** The answer shall have the item. */
  readonly returnsItem: boolean;
}

export interface CounterShards {
  place(group: number): CounterWritePlace;
  /** Learns from the item of a place. */
  learn(group: number, place: CounterWritePlace, item: Item): void;
}

interface Seen {
  readonly writes: number;
  readonly atMs: number;
}

interface Group {
  readonly window: number;
  readonly shards: number;
  /** Rate of one item, where it was seen. */
  readonly perSecond: number;
  readonly lookedAtMs: number;
  /** Counts of an item when it was seen, by shard, since the number of shards changed. */
  readonly seen: ReadonlyMap<number, Seen>;
  /**
   * Counts assumed for every unseen item; undefined when the number of shards has changed, and they no longer apply.
   */
  readonly start: Seen | undefined;
}

const ofOthers = { seen: new Map<number, Seen>(), start: undefined };

export function createCounterShards(clock: Pick<Clock, 'nowMs'>, fraction: () => number): CounterShards {
  /** At most one for each group. */
  const groups = new Map<number, Group>();

  /** The need of the last window, or half of it. */
  function groupAt(group: number, window: number): Group {
    const known = groups.get(group);
    if (known?.window === window) return known;
    const { shards, perSecond } = known ?? { shards: shardsMin, perSecond: 0 };
    return {
      window,
      shards: perSecond < writesPerSecondMin ? Math.max(shardsMin, shards / 2) : shards,
      ...{ perSecond: 0, lookedAtMs: Number.NEGATIVE_INFINITY, seen: new Map() },
      start: { writes: 0, atMs: window * windowMs },
    };
  }

  return {
    place(group) {
      const nowMs = clock.nowMs();
      const state = groupAt(group, windowOf(nowMs));
      const { window, shards, lookedAtMs, seen } = state;
      const returnsItem = nowMs - lookedAtMs >= lookEveryMs;
      groups.set(group, returnsItem ? { ...state, lookedAtMs: nowMs } : state);
      const marks = shards > shardsMin ? { [shardsName(shards)]: 1 } : {};
      return {
        ...{ window, returnsItem },
        // A rate is the difference of two looks at one item.
        shard: (returnsItem ? seen.keys().next().value : undefined) ?? Math.floor(fraction() * shards),
        changes: { set: marks, add: { [writesName]: 1 } },
      };
    },

    learn(group, { window, shard }, item) {
      const state = groups.get(group);
      if (state?.window !== window) return;
      const { shards, seen, start } = state;
      const marked = readShards(item);
      if (marked > shards) {
        groups.set(group, { ...state, ...ofOthers, shards: marked });
        return;
      }
      const now = { writes: Number(item[writesName] ?? 0), atMs: clock.nowMs() };
      const since = seen.get(shard) ?? start;
      const measuredMs = since === undefined ? Number.POSITIVE_INFINITY : now.atMs - since.atMs;
      if (measuredMs < measuredMinMs) return;
      const perSecond = since === undefined ? state.perSecond : ((now.writes - since.writes) * 1_000) / measuredMs;
      const isFast = since !== undefined && perSecond > writesPerSecondMax && shards < shardsMax;
      const next = isFast ? { ...ofOthers, shards: shards * 2 } : { seen: new Map(seen).set(shard, now) };
      groups.set(group, { ...state, ...next, perSecond });
    },
  };
}
