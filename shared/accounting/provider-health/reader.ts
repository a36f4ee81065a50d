// The statistics as one instance sees them. No schedule makes them: requests do, one at a time in the whole fleet. Served
// statistics are never older than 60 seconds; that there may be none is no error.
//
//   age    0 s ........... 30 s ........................................ 60 s ...
//          served, no I/O  served; looked up, or rebuilt, meanwhile      not served: the request waits, a second at most
//
// A rebuilder that dies at 30 s is replaced at 40 to 42 s: its lease takes 10, and instances look every 2.
import { type Randomness, systemRandomness } from '../../foundation/ids/index.ts';
import { type Clock, sleep, waitAtMost } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { measure } from './measure.ts';
import { createSnapshotStore, type StoredSnapshot } from './snapshot-store.ts';
import { createStatistics, noStatistics, type Statistics } from './statistics.ts';

/** Promised by the listing. */
const servedAgeMaxMs = 60_000;
const rebuildAgeMs = 30_000;
/** Pause after a look that found nothing fresh, which also bounds the calls to a store that is down. */
const askAgainMs = 2_000;
/** From the start of a look: how long a request with nothing to serve waits for it, however often it asks. */
const waitMaxMs = 1_000;
/** Another instance is rebuilding, and there is nothing to serve: a rebuild takes some 100 to 400 ms. */
const looksMax = 5;
const lookAgainMs = 200;

export interface StatisticsReader {
  /** At most 60 seconds old; empty where there is nothing that young. Never rejects, waits a second at most. */
  current(): Promise<Statistics>;
  /**
   * Resolves when no lookup or rebuild runs, undefined where none does: to be awaited after the last byte, lest a frozen
   * process keeps the lease.
   */
  settled(): Promise<void> | undefined;
}

/** For an operator, who waits until they are there. */
export async function awaitStatistics(reader: StatisticsReader): Promise<Statistics> {
  await reader.current();
  await reader.settled();
  return reader.current();
}

interface StatisticsReaderOptions {
  readonly store: Pick<Store, 'get' | 'put' | 'update'>;
  readonly clock: Clock;
  readonly randomness?: Pick<Randomness, 'uuid'>;
  /** Told of every lookup or rebuild that failed, for the log. */
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
    // One too old to be served is not even unpacked: if it is broken, the next rebuild replaces it.
    const measuredAtMs = stored?.measuredAtMs;
    if (stored === undefined || measuredAtMs === undefined || ageOf(measuredAtMs) > servedAgeMaxMs) return;
    if (ageOf(measuredAtMs) < copyAge()) copy = createStatistics(measuredAtMs, await stored.unpack());
  }

  async function rebuild(owner: string): Promise<void> {
    // Taken before the first read, because the age is that of the oldest.
    const measuredAtMs = clock.nowMs();
    const tables = await measure(store, clock, measuredAtMs);
    copy = createStatistics(measuredAtMs, tables);
    await snapshots.publish(owner, measuredAtMs, tables);
  }

  async function refresh(): Promise<void> {
    const owner = randomness.uuid();
    for (let look = 1; look <= looksMax; look += 1) {
      if (look > 1) await sleep(clock, lookAgainMs);
      const stored = await snapshots.read();
      await adopt(stored);
      if (copyAge() < rebuildAgeMs) return;
      if (await snapshots.elect(stored, owner, clock.nowMs())) return rebuild(owner);
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
        // It continues past the wait, for later callers.
        await waitAtMost(clock, waitMs, refreshing, () => {});
      }
      return copyAge() <= servedAgeMaxMs ? copy : noStatistics;
    },
    settled: () => refreshing,
  };
}
