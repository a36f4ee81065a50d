// Serves the statistics as one instance sees them. Requests make the statistics, one request at a time in the whole
// fleet; there is no schedule. Served statistics are never older than 60 seconds; having none is not an error.
//
//   age    0 s ........... 30 s ........................................ 60 s ...
//          served, no I/O  served; looked up, or rebuilt, meanwhile      not served: the request waits, a second at most
//
// A rebuilder that dies at 30 s is replaced at 40 to 42 s: its lease takes 10, and instances check every 2.
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { type Clock, sleep, waitAtMost } from '../../foundation/time/index.ts';
import { packText, unpackText } from '../../storage/blobs/index.ts';
import { absent, and, atMost, equals, type Item, or, type Store } from '../../storage/store/index.ts';
import {
  counterKinds,
  countersKey,
  countersPlaces,
  modelPartOf,
  oldestWindowMinutes,
  readCounterName,
  readShards,
  shardsMin,
  shardsOf,
  snapshotKey,
} from './layout.ts';
import {
  addCount,
  addHistogram,
  type Counts,
  createStatistics,
  type FigureTables,
  figuresOf,
  noStatistics,
  type Statistics,
} from './statistics.ts';

/** Highest age that is served, as the listing promises. */
const servedAgeMaxMs = 60_000;
const rebuildAgeMs = 30_000;
/** Pause after a read that found nothing fresh, which also bounds the calls to a store that is down. */
const askAgainMs = 2_000;
/** Longest wait of a request that has nothing to serve, from the start of a read, however often it asks. */
const waitMaxMs = 1_000;
/**
 * Maximum reads while another instance is rebuilding and there is nothing to serve: a rebuild takes some 100 to 400 ms.
 */
const looksMax = 5;
const lookAgainMs = 200;

export interface StatisticsReader {
  /**
   * Returns statistics that are at most 60 seconds old; empty if there are none that young. Never rejects, waits a
   * second at most.
   */
  current(): Promise<Statistics>;
  /**
   * Resolves when no lookup or rebuild runs, undefined if none does. Awaited after the last byte, so that a frozen
   * process does not hold the lease.
   */
  settled(): Promise<void> | undefined;
}

/** Reads the statistics for an operator, who waits until they are there. */
export async function awaitStatistics(reader: StatisticsReader): Promise<Statistics> {
  await reader.current();
  await reader.settled();
  return reader.current();
}

interface StatisticsReaderOptions {
  readonly store: Pick<Store, 'get' | 'put' | 'update'>;
  readonly clock: Clock;
  readonly randomness?: Pick<Randomness, 'uuid'>;
  /** Called with the error of every lookup or rebuild that failed, for the log. */
  readonly onFailure?: (error: unknown) => void;
}

export function createStatisticsReader(options: StatisticsReaderOptions): StatisticsReader {
  const { store, clock, randomness = systemRandomness, onFailure = () => {} } = options;
  const snapshots = createSnapshotStore(store);
  let copy = noStatistics;
  let askAgainAtMs = 0;
  let waitUntilMs = 0;
  let refreshing: Promise<void> | undefined;

  const ageOf = (measuredAtMs = Number.NEGATIVE_INFINITY): number => clock.nowMs() - measuredAtMs;
  const copyAge = (): number => ageOf(copy.measuredAtMs);

  async function adopt(stored: StoredSnapshot | undefined): Promise<void> {
    // A snapshot that is too old is not even decompressed. If it is broken, the next rebuild replaces it.
    const measuredAtMs = stored?.measuredAtMs;
    if (stored === undefined || measuredAtMs === undefined || ageOf(measuredAtMs) > servedAgeMaxMs) return;
    if (ageOf(measuredAtMs) < copyAge()) copy = createStatistics(measuredAtMs, await stored.unpack());
  }

  async function rebuild(owner: string): Promise<void> {
    // The time is taken before the first read, because the age is the age of the oldest read.
    const measuredAtMs = clock.nowMs();
    const tables = await measure(store, clock, measuredAtMs);
    copy = createStatistics(measuredAtMs, tables);
    await snapshots.publish(owner, measuredAtMs, tables);
  }

  async function refresh(): Promise<void> {
    const owner = randomness.uuid();
    for (let look = 1; look <= looksMax; look += 1) {
      if (look > 1) await sleep(clock, lookAgainMs);
      const snapshot = await snapshots.read();
      await adopt(snapshot);
      if (copyAge() < rebuildAgeMs) return;
      if (await snapshots.elect(snapshot, owner, clock.nowMs())) return rebuild(owner);
      if (copyAge() <= servedAgeMaxMs) return;
    }
  }

  function startRefresh(): void {
    waitUntilMs = clock.nowMs() + waitMaxMs;
    refreshing = refresh()
      .catch(onFailure)
      .finally(() => {
        refreshing = undefined;
        askAgainAtMs = clock.nowMs() + askAgainMs;
      });
  }

  return {
    async current() {
      if (copyAge() < rebuildAgeMs) return copy;
      if (refreshing === undefined && clock.nowMs() >= askAgainAtMs) startRefresh();
      const waitMs = waitUntilMs - clock.nowMs();
      if (copyAge() > servedAgeMaxMs && refreshing !== undefined && waitMs > 0) {
        // The refresh continues after the wait, for later callers.
        await waitAtMost(clock, waitMs, refreshing, () => {});
      }
      return copyAge() <= servedAgeMaxMs ? copy : noStatistics;
    },
    settled: () => refreshing,
  };
}

// Stores the snapshot that all instances share, which is one item with the figures, and with the lease of the instance
// that makes the next figures.

/**
 * Duration of the lease. It is longer than a rebuild may take (5 s) with its writes; after a rebuilder has died, the
 * others wait this long.
 */
const leaseMs = 10_000;
/** Lifetime of the item. A snapshot is not served after a minute, but operators may read it later. */
const snapshotLifeSeconds = 60 * 60;

interface StoredSnapshot {
  /** Undefined when only a lease was written, and no snapshot yet. */
  readonly measuredAtMs: number | undefined;
  readonly leaseUntilMs: number;
  unpack(): Promise<FigureTables>;
}

interface SnapshotStore {
  read(): Promise<StoredSnapshot | undefined>;
  /**
   * Returns true for exactly one of the callers that saw the same snapshot, until its lease ends. Writes nothing while
   * a lease runs.
   */
  elect(seen: StoredSnapshot | undefined, owner: string, nowMs: number): Promise<boolean>;
  /** Publishes a snapshot. Returns false if the lease was lost to another instance, and nothing was written. */
  publish(owner: string, measuredAtMs: number, tables: FigureTables): Promise<boolean>;
}

const secondsAfter = (nowMs: number): number => Math.ceil(nowMs / 1000) + snapshotLifeSeconds;

export function createSnapshotStore(store: Pick<Store, 'get' | 'put' | 'update'>): SnapshotStore {
  return {
    async read() {
      const item = await store.get('statistics', snapshotKey);
      if (item === undefined) return undefined;
      return {
        measuredAtMs: item.measured_at_ms as number | undefined,
        leaseUntilMs: (item.lease_until_ms as number | undefined) ?? 0,
        unpack: async () => {
          const json = await unpackText({ bytes: item.tables_gzip as Uint8Array });
          if (json === undefined) throw new Error('the stored statistics are damaged');
          return JSON.parse(json) as FigureTables;
        },
      };
    },

    async elect(seen, owner, nowMs) {
      if (seen !== undefined && seen.leaseUntilMs > nowMs) return false;
      // No instance holds a lease, and none has published since this reader read.
      const isFree = or(absent('lease_until_ms'), atMost('lease_until_ms', nowMs));
      const isAsSeen = or(absent('measured_at_ms'), atMost('measured_at_ms', seen?.measuredAtMs ?? 0));
      const result = await store.update({
        table: 'statistics',
        key: snapshotKey,
        changes: {
          set: {
            lease_owner: owner,
            lease_until_ms: nowMs + leaseMs,
            expires_at_epoch_seconds: secondsAfter(nowMs),
          },
        },
        condition: and(isFree, isAsSeen),
        repeatable: true,
      });
      return result.kind === 'written' || result.item?.lease_owner === owner;
    },

    async publish(owner, measuredAtMs, tables) {
      // The whole item is replaced, and the lease with it.
      const result = await store.put({
        table: 'statistics',
        item: {
          pk: snapshotKey,
          measured_at_ms: measuredAtMs,
          tables_gzip: (await packText(JSON.stringify(tables))).bytes,
          expires_at_epoch_seconds: secondsAfter(measuredAtMs),
        },
        condition: equals('lease_owner', owner),
      });
      return result.kind === 'written';
    },
  };
}

// Makes one rebuild: reads every counter that still counts and computes figures from them. It succeeds as a whole or
// fails, because figures from half of the shards would look like half of the traffic.

/**
 * Number of concurrent reads, of 128 and more in all, so that other requests of the process still get sockets and turns
 * of the event loop.
 */
const parallelReads = 16;
/** Time limit of the whole rebuild; below the lease, so that its snapshot can still be published. */
const measureTimeoutMs = 5_000;

/** Reads the counters. Throws StoreUnavailable when a read fails, or when `measureTimeoutMs` was not enough. */
export async function measure(store: Pick<Store, 'get'>, clock: Clock, nowMs: number): Promise<FigureTables> {
  const candidates = new Map<string, Counts>();
  const stop = new AbortController();
  const cancelTimer = clock.after(measureTimeoutMs, () => stop.abort(new Error('the rebuild took too long')));
  const places = countersPlaces(nowMs);
  /** The number of shards to read, by window and group. */
  const shardCounts = new Map<string, number>();
  // The readers share one list, so that each item is read once.
  const readRest = async () => {
    for (let place = places.shift(); place !== undefined; place = places.shift()) {
      const { window, group, shard } = place;
      const item = await store.get('statistics', countersKey(window, group, shard), { signal: stop.signal });
      addItem(candidates, item);
      const name = countersKey(window, group, 0);
      const [known, named] = [shardCounts.get(name) ?? shardsMin, readShards(item ?? {})];
      if (named <= known) continue;
      shardCounts.set(name, named);
      places.push(...shardsOf({ window, group }, known, named));
    }
  };
  try {
    await Promise.all(Array.from({ length: parallelReads }, readRest));
  } catch (error) {
    stop.abort();
    throw error;
  } finally {
    cancelTimer();
  }
  return toTables(candidates, oldestWindowMinutes(nowMs));
}

function addItem(candidates: Map<string, Counts>, item: Item | undefined): void {
  for (const [attribute, value] of Object.entries(item ?? {})) {
    const counter = readCounterName(attribute);
    if (counter === undefined) continue;
    const { kind, bucket } = counter;
    const counts = candidates.get(counter.candidateName) ?? emptyCounts();
    if (kind === counterKinds.latency) addCount(counts.latency, bucket, Number(value));
    else if (kind === counterKinds.firstToken) addCount(counts.firstToken, bucket, Number(value));
    else if (kind === counterKinds.failed) counts.failed += Number(value);
    else if (kind === counterKinds.refused) counts.refused += Number(value);
    else if (kind === counterKinds.rateLimited) counts.rateLimited += Number(value);
    // No figure includes calls that were invalid.
    else continue;
    candidates.set(counter.candidateName, counts);
  }
}

function toTables(candidates: ReadonlyMap<string, Counts>, minutes: number): FigureTables {
  const models = new Map<string, Counts>();
  for (const [name, counts] of candidates) {
    // A model's figures include only calls that count in the uptime.
    if (counts.latency.size === 0 && counts.failed === 0) continue;
    const model = models.get(modelPartOf(name)) ?? emptyCounts();
    addHistogram(model.latency, counts.latency);
    addHistogram(model.firstToken, counts.firstToken);
    model.failed += counts.failed;
    model.refused += counts.refused;
    model.rateLimited += counts.rateLimited;
    models.set(modelPartOf(name), model);
  }
  return { models: figuresByName(models, minutes), candidates: figuresByName(candidates, minutes) };
}

const figuresByName = (counts: ReadonlyMap<string, Counts>, minutes: number) =>
  Object.fromEntries(counts.entries().map(([name, each]) => [name, figuresOf(each, minutes)]));

const emptyCounts = (): Counts => ({
  latency: new Map(),
  firstToken: new Map(),
  failed: 0,
  refused: 0,
  rateLimited: 0,
});
