// One rebuild: reads every counter that still counts and makes figures of them. All or nothing: figures from half of the
// shards would look like half of the traffic.

import type { Clock } from '../../foundation/time/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import {
  counterKinds,
  countersKey,
  countersPlaces,
  minutesRead,
  modelPartOf,
  readCounterName,
  readShards,
  shardsMin,
  shardsOf,
} from './layout.ts';
import { addCount, addHistogram, type Counts, type FigureTables, figuresOf } from './statistics.ts';

/** Reads at a time, of 128 and more: the other requests of the process still get sockets, and turns. */
const parallelReads = 16;
/** The whole rebuild; below the lease, so that its snapshot can still be published. */
const measureTimeoutMs = 5_000;

/** Throws StoreUnavailable when a read fails, or when `measureTimeoutMs` were not enough. */
export async function measure(store: Pick<Store, 'get'>, clock: Clock, nowMs: number): Promise<FigureTables> {
  const candidates = new Map<string, Counts>();
  const stop = new AbortController();
  const cancelTimer = clock.after(measureTimeoutMs, () => stop.abort(new Error('the rebuild took too long')));
  const places = countersPlaces(nowMs);
  /** By window and group: the number of shards to read. */
  const shardCounts = new Map<string, number>();
  // The readers draw from one list: each item is read once.
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
  return toTables(candidates, minutesRead(nowMs));
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
    // No figure is made of calls that were invalid.
    else continue;
    candidates.set(counter.candidateName, counts);
  }
}

function toTables(candidates: ReadonlyMap<string, Counts>, minutes: number): FigureTables {
  const models = new Map<string, Counts>();
  for (const [name, counts] of candidates) {
    // A model's figures are of calls that make the uptime.
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
