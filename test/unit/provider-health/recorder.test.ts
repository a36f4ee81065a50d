import { describe, expect, it } from '#jest';
import { createStatisticsRecorder } from '../../../shared/accounting/provider-health/index.ts';
import { waitingCountersMax } from '../../../shared/accounting/provider-health/recorder.ts';
import { type Store, StoreUnavailable, type Update } from '../../../shared/storage/store/index.ts';
import { gatheredWrite } from '../../support/gathered-write.ts';
import { manualClock } from '../../support/manual-clock.ts';

/** A store that answers when the test says so. */
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
    .flatMap(({ values = {} }) => Object.entries(values).filter(([name]) => name.startsWith(':c')))
    .reduce((sum, [, count]) => sum + Number(count), 0);

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

  it('writes every call, however many writes follow each other', async () => {
    const { store, updates, answerAll } = heldStore();
    const { recorder } = start(store);
    const flushes: Promise<void>[] = [];
    for (let round = 1; round <= 5; round += 1) {
      recorder.record(call);
      flushes.push(recorder.flush());
      recorder.record(call);
      flushes.push(recorder.flush());
      answerAll();
      await flushes.at(-2);
      await gatheredWrite();
      answerAll();
      await flushes.at(-1);
    }
    expect(countsIn(updates)).toBe(10);
  });

  it('writes nothing for a flush with nothing noted', async () => {
    const { store, updates } = heldStore();
    await start(store).recorder.flush();
    expect(updates).toEqual([]);
  });

  it('waits in flush for the write that carries the call, though another flush began it', async () => {
    const { store, answerAll } = heldStore();
    const { recorder } = start(store);
    recorder.record(call);
    const flushes = [recorder.flush(), recorder.flush()];
    let ended = 0;
    for (const flush of flushes) void flush.then(() => (ended += 1));
    await Promise.resolve();
    expect(ended).toBe(0);
    answerAll();
    await Promise.all(flushes);
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
    // Two of DynamoDB's limits: 4 KB of expression, 300 operators.
    for (const { expression } of updates) {
      expect(expression.length).toBeLessThan(4_096);
      expect(expression.match(/:c/g)?.length).toBeLessThan(300);
    }
  });
});
