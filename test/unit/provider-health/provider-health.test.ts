import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { createStatisticsReader, createStatisticsRecorder } from '../../../shared/accounting/provider-health/index.ts';
import {
  candidateNameOf,
  counterKinds,
  counterName,
  countersKey,
  countersPlaces,
  groupOf,
  modelNameOf,
  modelPartOf,
  oldestWindowMinutes,
  readCounterName,
  snapshotKey,
  windowMs,
  windowOf,
} from '../../../shared/accounting/provider-health/layout.ts';
import { createSnapshotStore } from '../../../shared/accounting/provider-health/reader.ts';
import {
  addCount,
  addHistogram,
  bucketOf,
  type Counts,
  figuresOf,
} from '../../../shared/accounting/provider-health/statistics.ts';
import { renderExpressions } from '../../../shared/storage/dynamodb-store/expressions.ts';
import { type Store, StoreUnavailable, type Update } from '../../../shared/storage/store/index.ts';
import { gatheredWrite } from '../../support/gathered-write.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startTestStore, type TestStore } from '../../support/test-store.ts';

const lastBucket = 99;

/** The time that a process has to rebuild the snapshot. */
const leaseMs = 10_000;

const waitingCountersMax = 10_000;

type Histogram = Parameters<typeof addHistogram>[0];

const histogramOf = (durations: readonly number[]): Histogram => {
  const histogram: Histogram = new Map();
  for (const duration of durations) addCount(histogram, bucketOf(duration), 1);
  return histogram;
};

const mergeOf = (histograms: readonly Histogram[]): Histogram => {
  const merged: Histogram = new Map();
  for (const histogram of histograms) addHistogram(merged, histogram);
  return merged;
};

const figuresOfHistogram = (latency: Histogram) => {
  const counts: Counts = { latency, firstToken: new Map(), failed: 0, refused: 0, rateLimited: 0 };
  return figuresOf(counts, 1);
};

const sorted = (histogram: Histogram) => [...histogram].sort(([a], [b]) => a - b);
/** The error of one bucket, from its middle to its edge, with room for the rounding of the logarithm. */
const resolution = Math.sqrt(1.12) * 1.000001;
const duration = fc.double({ min: 1, max: 70_000, noNaN: true });

describe('a histogram', () => {
  it('is the same whatever order its parts are merged in, and loses no count', () => {
    fc.assert(
      fc.property(fc.array(fc.array(duration)), fc.func(fc.integer()), (parts, rank) => {
        const shuffled = parts.toSorted((a, b) => rank(a) - rank(b));
        const merged = mergeOf(parts.map(histogramOf));
        expect(sorted(mergeOf(shuffled.map(histogramOf)))).toEqual(sorted(merged));
        expect(sorted(histogramOf(parts.flat()))).toEqual(sorted(merged));
        expect(figuresOfHistogram(merged).throughputRpm).toBe(parts.flat().length);
      }),
    );
  });

  it('has a median within six percent of the true one, so between the smallest and the largest duration', () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1 }), (durations) => {
        const median = figuresOfHistogram(histogramOf(durations)).medianLatencyMs ?? Number.NaN;
        const inOrder = durations.toSorted((a, b) => a - b);
        const exact = inOrder[Math.ceil(inOrder.length / 2) - 1] ?? Number.NaN;
        expect(median).toBeGreaterThanOrEqual(Math.floor(exact / resolution));
        expect(median).toBeLessThanOrEqual(Math.ceil(exact * resolution));
        expect(median).toBeGreaterThanOrEqual(Math.floor(Math.min(...durations) / resolution));
        expect(median).toBeLessThanOrEqual(Math.ceil(Math.max(...durations) * resolution));
      }),
    );
  });

  it('has no median without counts', () => {
    expect(figuresOfHistogram(new Map()).medianLatencyMs).toBeUndefined();
  });

  it.each([
    [Number.NaN, 0],
    [-5, 0],
    [0, 0],
    [Number.POSITIVE_INFINITY, lastBucket],
    [1e12, lastBucket],
  ])('puts %p into bucket %p: no duration makes a bucket of its own', (durationMs, bucket) => {
    expect(bucketOf(durationMs)).toBe(bucket);
  });
});

const id = fc.stringMatching(/^[A-Za-z0-9._:/@-]{1,80}$/);

describe('the layout of the counters', () => {
  it('gives every id a short name from which candidate, model, kind and bucket can be read back', () => {
    fc.assert(
      fc.property(id, id, fc.double({ min: 0, noNaN: true }), (model, provider, durationMs) => {
        const candidateName = candidateNameOf(model, provider);
        const bucket = bucketOf(durationMs);
        const latency = readCounterName(counterName(candidateName, 'latency', bucket));
        expect(latency).toEqual({ candidateName, kind: counterKinds.latency, bucket });
        const failed = readCounterName(counterName(candidateName, 'failed'));
        expect(failed).toEqual({ candidateName, kind: counterKinds.failed, bucket: 0 });
        expect(modelPartOf(candidateName)).toBe(modelNameOf(model));
        expect(counterName(candidateName, 'latency', bucket)).toHaveLength(12);
      }),
    );
  });

  it('takes no other attribute for a counter', () => {
    for (const attribute of ['pk', 'expires_at_epoch_seconds', 'constructor', '__proto__']) {
      expect(readCounterName(attribute)).toBeUndefined();
    }
  });

  it('lets a rebuild find every item of a group that is written slowly in 128 reads, from 15 to 30 minutes back', () => {
    fc.assert(
      fc.property(fc.nat(4_000_000_000_000), id, fc.nat(1), (nowMs, model, shard) => {
        const keys = countersPlaces(nowMs).map((place) => countersKey(place.window, place.group, place.shard));
        expect(new Set(keys).size).toBe(128);
        expect(keys).toContain(countersKey(windowOf(nowMs), groupOf(model), shard));
        expect(keys).toContain(countersKey(windowOf(nowMs - windowMs), groupOf(model), shard));
        expect(oldestWindowMinutes(nowMs)).toBeGreaterThanOrEqual(15);
        expect(oldestWindowMinutes(nowMs)).toBeLessThan(30);
      }),
      { numRuns: 30 },
    );
  });
});

/** Returns a store that answers when the test says so. */
function heldStore() {
  const updates: Update[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const store: Pick<Store, 'update'> = {
    update: (update) => {
      updates.push(update);
      return new Promise((resolve, reject) => {
        answers.push((error) => (error === undefined ? resolve({ kind: 'written', item: {} }) : reject(error)));
      });
    },
  };
  const answerAll = (error?: Error) => {
    for (const answer of answers.splice(0)) answer(error);
  };
  return { store, updates, answerAll };
}

function start(store: Pick<Store, 'update'>) {
  const failures: unknown[] = [];
  const randomness = { fraction: () => 0.999 };
  const onFailure = (error: unknown) => failures.push(error);
  return { failures, recorder: createStatisticsRecorder({ store, clock: manualClock(), randomness, onFailure }) };
}

const call = { model: 'acme/large-1', provider: 'acme', latencyMs: 100, outcome: 'ok' } as const;
const countsIn = (updates: readonly Update[]): number =>
  updates
    .flatMap(({ changes }) => Object.entries(changes.add ?? {}))
    .map(([name, count]) => (readCounterName(name) === undefined ? 0 : count))
    .reduce<number>((sum, count) => sum + Number(count), 0);

describe('the recorder', () => {
  it('writes 20 calls that ended together at once, and 20 that end meanwhile at once after them', async () => {
    const { store, updates, answerAll } = heldStore();
    const { recorder } = start(store);
    for (let calls = 0; calls < 20; calls += 1) recorder.record(call);
    const first = Promise.all(Array.from({ length: 20 }, () => recorder.flush()));
    expect(updates).toHaveLength(1);
    const second = Array.from({ length: 20 }, () => {
      recorder.record({ ...call, outcome: 'failed' });
      return recorder.flush();
    });
    expect(updates).toHaveLength(1);
    answerAll();
    await first;
    await gatheredWrite();
    expect(updates).toHaveLength(2);
    answerAll();
    await Promise.all(second);
    expect(updates).toHaveLength(2);
    expect(countsIn(updates)).toBe(40);
  });

  it('of a function notes one call of ten, whose write counts as all of them, and counts as many in all', async () => {
    const counts: number[] = [];
    const writes: number[] = [];
    for (const offset of [0, 0.35, 0.999]) {
      const { store, updates, answerAll } = heldStore();
      const recorder = createStatisticsRecorder({
        store,
        clock: manualClock(),
        randomness: { fraction: () => offset },
        callsPerSample: 10,
      });
      for (let calls = 0; calls < 200; calls += 1) {
        recorder.record(call);
        const flushed = recorder.flush();
        answerAll();
        await flushed;
      }
      counts.push(countsIn(updates));
      writes.push(updates.length);
    }
    expect([counts, writes]).toEqual([new Array(3).fill(200), new Array(3).fill(20)]);
  });

  it('loses the counts of a failed write, tells the log, rejects no caller and counts on', async () => {
    const { store, updates, answerAll } = heldStore();
    const { recorder, failures } = start(store);
    recorder.record(call);
    const flush = recorder.flush();
    answerAll(new StoreUnavailable('down'));
    await expect(flush).resolves.toBeUndefined();
    expect(failures).toEqual([expect.any(StoreUnavailable)]);
    await recorder.flush();
    expect(updates).toHaveLength(1);
    recorder.record(call);
    const next = recorder.flush();
    answerAll();
    await next;
    expect(countsIn(updates.slice(1))).toBe(1);
    expect(failures).toHaveLength(1);
  });

  it('holds a bounded number of counters while a write hangs, however many calls and models there are', async () => {
    const { store, updates, answerAll } = heldStore();
    const { recorder } = start(store);
    recorder.record(call);
    const first = recorder.flush();
    for (let model = 0; model < waitingCountersMax + 5_000; model += 1) {
      recorder.record({ ...call, model: `model-${model}` });
      recorder.record({ ...call, model: `model-${model}` });
    }
    const second = recorder.flush();
    answerAll();
    await first;
    await gatheredWrite();
    answerAll();
    await second;
    expect(countsIn(updates.slice(1))).toBe(2 * waitingCountersMax);
    // These are two of DynamoDB's limits: 4 KB of expression, 300 operators.
    for (const { changes } of updates) {
      expect(renderExpressions(changes, undefined).UpdateExpression?.length).toBeLessThan(4_096);
      expect(Object.keys(changes.add ?? {}).length).toBeLessThan(300);
    }
  });
});

describe('in a store', () => {
  let tables: TestStore;
  beforeEach(async () => {
    tables = await startTestStore();
  });
  afterEach(() => tables.stop());

  const nowMs = 1_800_000_000_000;
  const figures = {
    medianLatencyMs: 100,
    medianFirstTokenMs: undefined,
    throughputRpm: 1,
    uptime: 1,
    unsuccessful: { failed: 0, refused: 0, rateLimited: 0 },
  };
  const tablesOf = (name: string) => ({ models: { [name]: figures }, candidates: {} });

  describe('the stored snapshot', () => {
    it('is not overwritten by a rebuilder that lost its lease', async () => {
      const snapshots = createSnapshotStore(tables.store);
      expect(await snapshots.elect(undefined, 'late', nowMs)).toBe(true);
      expect(await snapshots.elect(undefined, 'heir', nowMs + leaseMs)).toBe(true);
      expect(await snapshots.publish('heir', nowMs + leaseMs, tablesOf('heir'))).toBe(true);
      expect(await snapshots.publish('late', nowMs, tablesOf('late'))).toBe(false);
      const storedSnapshot = await snapshots.read();
      expect(storedSnapshot?.measuredAtMs).toBe(nowMs + leaseMs);
      expect(Object.keys((await storedSnapshot?.unpack())?.models ?? {})).toEqual(['heir']);
    });

    it('elects no instance that looked before it was renewed', async () => {
      const snapshots = createSnapshotStore(tables.store);
      const latestSnapshot = await snapshots.read();
      expect(await snapshots.elect(latestSnapshot, 'first', nowMs)).toBe(true);
      expect(await snapshots.publish('first', nowMs, tablesOf('first'))).toBe(true);
      expect(await snapshots.elect(latestSnapshot, 'second', nowMs + 1)).toBe(false);
      expect(await snapshots.elect(await snapshots.read(), 'third', nowMs + 30_000)).toBe(true);
    });

    it('that cannot be unpacked gives no data, and is replaced once it is too old to be served', async () => {
      const brokenItem = { pk: snapshotKey, measured_at_ms: nowMs, tables_gzip: Buffer.from('broken') };
      await tables.store.put({ table: 'statistics', item: brokenItem });
      const clock = manualClock(nowMs);
      const failures: unknown[] = [];
      const onFailure = (error: unknown) => failures.push(error);
      const reader = createStatisticsReader({ store: tables.store, clock, onFailure });
      expect((await reader.current()).measuredAtMs).toBeUndefined();
      expect(failures).toHaveLength(1);
      clock.advance(60_001);
      expect((await reader.current()).measuredAtMs).toBe(nowMs + 60_001);
      expect(failures).toHaveLength(1);
    });
  });
});
