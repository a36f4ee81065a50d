// The counts of a group are spread over as many items as its writes need, by processes that know of each other only
// what an item says. A rebuild reads all of the items.
import { describe, expect, it } from '#jest';
import { createCounterShards } from '../../../shared/accounting/provider-health/counter-shards.ts';
import { readShards, shardsMax, shardsMin, windowMs } from '../../../shared/accounting/provider-health/layout.ts';
import { measure } from '../../../shared/accounting/provider-health/reader.ts';
import { createStatisticsRecorder } from '../../../shared/accounting/provider-health/recorder.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startTestStore } from '../../support/test-store.ts';
import { aroundStore } from '../../support/wrapped-store.ts';

const group = 3;
const windowStartMs = 1_800_000_000_000;

/** Simulates processes that write in turns, to items in memory. */
function fleet(processes: number) {
  const clock = manualClock(windowStartMs);
  let turn = 0;
  /** Returns fractions that select each shard equally often. */
  const fraction = () => (turn % 97) / 97;
  const start = () => createCounterShards(clock, fraction);
  const writers = Array.from({ length: processes }, start);
  const items = new Map<string, Item>();
  function write(writer = writers[turn % processes] ?? start()): void {
    turn += 1;
    const place = writer.place(group);
    const key = `${place.window} ${place.shard}`;
    const before = items.get(key) ?? {};
    const item = { ...before, ...place.changes.set, writes: Number(before.writes ?? 0) + 1 };
    items.set(key, item);
    if (place.returnsItem) writer.learn(group, place, item);
  }
  function run(perSecond: number, seconds: number): void {
    for (let second = 0; second < seconds; second += 1) {
      for (let n = 0; n < perSecond; n += 1) write();
      clock.advance(1_000);
    }
  }
  const shards = () => readShards(Object.assign({}, ...items.values()));
  const busiest = () => Math.max(...[...items.values()].map(({ writes }) => Number(writes)));
  return { clock, start, write, run, shards, busiest, items };
}

describe('the shards of a group', () => {
  it('stay few if they are written slowly, however many processes write', () => {
    const { run, shards, items } = fleet(50);
    run(400, 120);
    expect([shards(), items.size]).toEqual([shardsMin, shardsMin]);
  });

  it.each([1, 10, 100])('become as many as their writes need, of %i processes, and no more', (processes) => {
    const { run, shards, items, busiest } = fleet(processes);
    run(1_800, 120);
    expect([8, 16]).toContain(shards());
    items.clear();
    run(1_800, 20);
    // The bound is half of what an item can take, with some room for chance.
    expect(busiest() / 20).toBeLessThanOrEqual(300);
  });

  it('are bounded', () => {
    const { run, shards } = fleet(4);
    run(12_000, 90);
    expect(shards()).toBe(shardsMax);
  });

  it('are known to a process that starts from its second write on', () => {
    const { run, start, clock } = fleet(10);
    run(1_800, 120);
    const late = start();
    const place = late.place(group);
    late.learn(group, place, { writes: 1, 'shards 8': 1 });
    clock.advance(10);
    expect(late.place(group).changes.set).toEqual({ 'shards 8': 1 });
  });

  it('are as many at the start of a window, and half as many in each if little is written by then', () => {
    const { run, shards, clock, items } = fleet(10);
    run(1_800, 120);
    const most = shards();
    const nextWindow = () => {
      const intoWindowMs = clock.nowMs() % windowMs;
      clock.advance(windowMs - intoWindowMs);
      items.clear();
    };
    nextWindow();
    run(40, 60);
    expect(shards()).toBe(most);
    nextWindow();
    run(40, 60);
    expect(shards()).toBe(most / 2);
  });
});

describe('what recorders have spread', () => {
  it('a rebuild sums, to the call, whichever of them marked the items', async () => {
    const test = await startTestStore();
    const clock = manualClock(windowStartMs);
    const keys = new Set<string>();
    const store = aroundStore(test.store, (call, run) => {
      if (call.method === 'update') keys.add(call.key);
      return run();
    });
    const recorderOf = () => createStatisticsRecorder({ store, clock, randomness: { fraction: Math.random } });
    const recorders = [recorderOf(), recorderOf()];
    const call = { model: 'a/m', provider: 'p', latencyMs: 100, outcome: 'ok' } as const;
    const perSecond = 1_000;
    for (let second = 0; second < 12; second += 1) {
      for (let n = 0; n < perSecond; n += 1) {
        const recorder = recorders[n % 2];
        recorder?.record(call);
        await recorder?.flush();
      }
      clock.advance(1_000);
    }
    expect(keys.size).toBeGreaterThan(shardsMin);
    const { models } = await measure(test.store, clock, clock.nowMs());
    const [figures] = Object.values(models);
    // The figure covers a quarter of an hour and 12 s.
    expect(figures?.throughputRpm).toBeCloseTo((12 * perSecond) / 15.2, 1);
    await test.stop();
  });
});
