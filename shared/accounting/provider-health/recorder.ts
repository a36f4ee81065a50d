// Counts provider calls without delaying the client. A call is noted in memory, and one write after the last byte adds
// it to counters that any number of instances share. Statistics never make a call fail or memory grow.
import { createEveryNth, type Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type BatchDelay, coalesceRuns, type Store } from '../../storage/store/index.ts';
import { type CounterShards, createCounterShards } from './counter-shards.ts';
import { candidateNameOf, counterName, countersKey, groupOf, windowLifeSeconds, windowMs } from './layout.ts';
import { bucketOf } from './statistics.ts';

interface ObservedCall {
  /** Catalogue id. */
  readonly model: string;
  readonly provider: string;
  /** Time from sending the request to the last byte of the answer. It counts for calls that are 'ok'. */
  readonly latencyMs: number;
  /** Time to the first chunk with real output, for a stream. It counts however the stream ended. */
  readonly firstTokenMs?: number | undefined;
  /**
   * 'ok' and 'failed' determine the uptime. 'rate_limited' does not count for the uptime: a quota that is used up says
   * nothing about whether the provider works, and routing has limits and cooldowns for it. 'invalid' is the caller's
   * own mistake. 'refused' is a failure too: the provider refused the gateway's credential, or its account has no quota
   * left.
   */
  readonly outcome: 'ok' | 'failed' | 'refused' | 'rate_limited' | 'invalid';
}

export interface StatisticsRecorder {
  /** Notes one call to a provider, in memory. */
  record(call: ObservedCall): void;
  /**
   * Resolves when everything noted before it was written or abandoned, within two store calls' time. Awaited after the
   * last byte. One write runs at a time, and the calls that end meanwhile share the next write. Never rejects. A count
   * whose write failed is lost: it may have been made, and counting it twice would be worse.
   */
  flush(): Promise<void>;
}

interface StatisticsRecorderOptions {
  readonly store: Pick<Store, 'update'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction'>;
  /** Called with the error of every write that failed, for the log. */
  readonly onFailure?: (error: unknown) => void;
  /** Delay of counts. If absent, they are written at once while no other write runs. */
  readonly gathering?: BatchDelay | undefined;
  /**
   * Number of calls for which one noted call counts, because in a process with one call at a time each noted call is a
   * separate write. Default: 1.
   */
  readonly callsPerSample?: number | undefined;
}

/**
 * Maximum number of counters that wait at a time. They use about 1 MB, and are far more than the calls during one write
 * make.
 */
const waitingCountersMax = 10_000;
/** Maximum number of counters of one write. The expression stays below 2 KB where 4 KB are allowed. */
const countersPerWriteMax = 150;

interface CounterWrite {
  readonly group: number;
  readonly counts: readonly (readonly [name: string, count: number])[];
}

export function createStatisticsRecorder(options: StatisticsRecorderOptions): StatisticsRecorder {
  const { onFailure = () => {}, callsPerSample = 1, randomness } = options;
  const isSample = createEveryNth(callsPerSample, randomness);
  const shards = createCounterShards(options.clock, randomness.fraction);
  /** Waiting counts by group and counter. Memory grows with the number of counters, not of calls. */
  let waiting = new Map<number, Map<string, number>>();
  let waitingCount = 0;

  function take(): CounterWrite[] {
    const takenReports = waiting;
    waiting = new Map();
    waitingCount = 0;
    return [...takenReports].flatMap(([group, counts]) =>
      inPieces([...counts], countersPerWriteMax).map((piece) => ({ group, counts: piece })),
    );
  }

  const writeAll = coalesceRuns(async () => {
    await Promise.all(take().map((write) => writeCounts(options.store, shards, write).catch(onFailure)));
  }, options.gathering);

  let lastWrite = Promise.resolve();

  return {
    record(call) {
      if (!isSample()) return;
      const group = groupOf(call.model);
      const counts = waiting.get(group) ?? new Map<string, number>();
      for (const name of countersOf(call)) {
        const known = counts.get(name);
        // At the bound a new counter is not counted.
        if (known === undefined && waitingCount >= waitingCountersMax) continue;
        if (known === undefined) waitingCount += 1;
        counts.set(name, (known ?? 0) + callsPerSample);
      }
      if (counts.size > 0) waiting.set(group, counts);
    },
    flush() {
      // Otherwise everything noted is part of the last requested write.
      if (waiting.size > 0) lastWrite = writeAll(undefined);
      return lastWrite;
    },
  };
}

const inPieces = <Value>(values: readonly Value[], sizeMax: number): Value[][] =>
  Array.from({ length: Math.ceil(values.length / sizeMax) }, (_, piece) =>
    values.slice(piece * sizeMax, (piece + 1) * sizeMax),
  );

function countersOf({ model, provider, latencyMs, firstTokenMs, outcome }: ObservedCall): string[] {
  const name = candidateNameOf(model, provider);
  const counted =
    outcome === 'ok'
      ? [counterName(name, 'latency', bucketOf(latencyMs))]
      : failureCounters[outcome].map((counter) => counterName(name, counter));
  if (firstTokenMs !== undefined) counted.push(counterName(name, 'firstToken', bucketOf(firstTokenMs)));
  return counted;
}

const failureCounters = {
  failed: ['failed'],
  refused: ['failed', 'refused'],
  rate_limited: ['rateLimited'],
  invalid: ['invalid'],
} as const;

async function writeCounts(
  store: StatisticsRecorderOptions['store'],
  shards: CounterShards,
  { group, counts }: CounterWrite,
): Promise<void> {
  const place = shards.place(group);
  const { window, shard, changes, returnsItem } = place;
  const endsAtEpochSeconds = ((window + 1) * windowMs) / 1000;
  const { item } = await store.update({
    table: 'statistics',
    key: countersKey(window, group, shard),
    // The item has hundreds of counters.
    returnsNoItem: !returnsItem,
    changes: {
      set: { ...changes.set, expires_at_epoch_seconds: endsAtEpochSeconds + windowLifeSeconds },
      add: { ...changes.add, ...Object.fromEntries(counts) },
    },
  });
  if (returnsItem && item !== undefined) shards.learn(group, place, item);
}
