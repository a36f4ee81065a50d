// Decides over how many items (shards) the counts of a group are spread: as many as its writes need. No process knows
// the rate of all writes, but each item counts its writes, so a process that reads an item at times can measure the
// rate. If the rate is too high, the process spreads its writes over more shards, and writes the number of shards into
// every item. Other processes adopt the number, and a rebuild reads as many shards.
import type { Clock } from '../../foundation/time/index.ts';
import type { Changes, Item } from '../../storage/store/index.ts';
import { readShards, shardsMax, shardsMin, shardsName, windowMs, windowOf, writesName } from './layout.ts';

/** Highest planned rate. An item of 2 KB takes 500 writes a second, of which half is planned for. */
const writesPerSecondMax = 250;
/** Rate below which half as many items would be enough, with a reserve. */
const writesPerSecondMin = writesPerSecondMax / 4;
/** Interval at which a process reads an item. */
const lookEveryMs = 10_000;
/** Shortest time over which a rate is measured. */
const measuredMinMs = 5_000;

interface CounterWritePlace {
  readonly window: number;
  readonly shard: number;
  /** Changes other than the counts. */
  readonly changes: Changes;
  /** True if the answer must contain the item. */
  readonly returnsItem: boolean;
}

export interface CounterShards {
  place(group: number): CounterWritePlace;
  /** Learns the rate from an item. */
  learn(group: number, place: CounterWritePlace, item: Item): void;
}

interface Seen {
  readonly writes: number;
  readonly atMs: number;
}

interface Group {
  readonly window: number;
  readonly shards: number;
  /** Rate of one item that was read. */
  readonly perSecond: number;
  readonly lookedAtMs: number;
  /** Counts of an item when it was read, by shard, since the number of shards changed. */
  readonly seen: ReadonlyMap<number, Seen>;
  /**
   * Counts assumed for every item that was not read; undefined when the number of shards has changed, and they no
   * longer apply.
   */
  readonly start: Seen | undefined;
}

const nothingSeen = { seen: new Map<number, Seen>(), start: undefined };

export function createCounterShards(clock: Pick<Clock, 'nowMs'>, fraction: () => number): CounterShards {
  /** State of each group. */
  const groups = new Map<number, Group>();

  /** Returns the number of shards that the last window needed, or half of it. */
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
        // A rate is the difference between two reads of one item.
        shard: (returnsItem ? seen.keys().next().value : undefined) ?? Math.floor(fraction() * shards),
        changes: { set: marks, add: { [writesName]: 1 } },
      };
    },

    learn(group, { window, shard }, item) {
      const state = groups.get(group);
      if (state?.window !== window) return;
      const { shards, seen, start } = state;
      const markedShards = readShards(item);
      if (markedShards > shards) {
        groups.set(group, { ...state, ...nothingSeen, shards: markedShards });
        return;
      }
      const now = { writes: Number(item[writesName] ?? 0), atMs: clock.nowMs() };
      const since = seen.get(shard) ?? start;
      const measuredMs = since === undefined ? Number.POSITIVE_INFINITY : now.atMs - since.atMs;
      if (measuredMs < measuredMinMs) return;
      const perSecond = since === undefined ? state.perSecond : ((now.writes - since.writes) * 1_000) / measuredMs;
      const isFast = since !== undefined && perSecond > writesPerSecondMax && shards < shardsMax;
      const next = isFast ? { ...nothingSeen, shards: shards * 2 } : { seen: new Map(seen).set(shard, now) };
      groups.set(group, { ...state, ...next, perSecond });
    },
  };
}
