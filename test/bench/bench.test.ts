// That the pieces of `npm run bench` work and count right. No time is asserted here: figures are for the bench to show.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { BenchPlan } from '../../infra/bench/bench-plan.ts';
import { percentile } from '../../infra/bench/figures.ts';
import { itemBytes } from '../../infra/bench/item-bytes.ts';
import { readOptions } from '../../infra/bench/options.ts';
import { resultsText } from '../../infra/bench/print-results.ts';
import type { BenchResults } from '../../infra/bench/results.ts';
import { runBench } from '../../infra/bench/run-bench.ts';
import { countRounds } from '../../infra/bench/sections/count-rounds.ts';
import { judge } from '../../infra/bench/targets.ts';

const tinyPlan: BenchPlan = {
  turns: 1,
  jsonPerTurn: { 1: 2, 32: 4 },
  streamsPerTurn: { 1: 1, 32: 2 },
  pauseMs: { 1: 0, 32: 0 },
  roundCalls: 1,
  firstChunkCalls: 1,
  cpuTurns: 1,
  cpuJsonPerTurn: 2,
  cpuStreamsPerTurn: 1,
  memoryRequests: 20,
  starts: 1,
};

async function runTiny(only: string): Promise<BenchResults> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-bench-test-'));
  try {
    const options = readOptions(['--only', only]);
    return await runBench({ options, folder, plan: tinyPlan, say: () => {} });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('a tiny run of the bench', () => {
  it('calls provider and gateway over HTTP, JSON and streams, at 1 and at 32 connections, and reads memory', async () => {
    const results = await runTiny('latency,memory');
    expect(results.latency?.calls).toHaveLength(8);
    expect(results.latency?.added.map(({ target }) => target)).toEqual(['gw', 'gw', 'gw', 'gw']);
    for (const { p50Ms, perSecond } of results.latency?.calls ?? []) {
      expect(p50Ms).toBeGreaterThan(0);
      expect(perSecond).toBeGreaterThan(0);
    }
    expect(results.memory?.at(-1)?.requests).toBe(20);
    expect(results.memory?.every(({ heapUsedBytes }) => heapUsedBytes > 0)).toBe(true);
    expect(results.rounds).toBeUndefined();
  });

  it('counts processor time and starts every bundle', async () => {
    const results = await runTiny('cpu,start');
    expect(results.cpu?.map(({ what, kind }) => `${what} ${kind}`)).toEqual([
      'core alone json',
      'core alone stream',
      'with the store client json',
      'with the store client stream',
    ]);
    expect(results.start?.map(({ name }) => name)).toEqual(['empty handler', 'chat-completions', 'models']);
    const text = resultsText(results);
    expect(text).toContain('| chat-completions');
    expect(text).not.toContain('NaN');
  });
});

describe('what the bench reckons with', () => {
  it('counts calls side by side as one round, and one after the other as two', () => {
    const call = (startedAtMs: number, endedAtMs: number) => ({ startedAtMs, endedAtMs });
    expect(countRounds([])).toBe(0);
    expect(countRounds([call(0, 5), call(1, 6), call(2, 9)])).toBe(1);
    expect(countRounds([call(0, 5), call(1, 9), call(5, 8)])).toBe(2);
    expect(countRounds([call(10, 15), call(0, 5), call(5, 10)])).toBe(3);
  });

  it('takes percentiles that were measured', () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.99, 1].map((fraction) => percentile(values, fraction))).toEqual([1, 3, 5, 5]);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('sizes items by the rules of DynamoDB', () => {
    expect(itemBytes({ pk: 'abc' })).toBe(5);
    expect(itemBytes({ n: 12_345, m: -1, z: 0, big: 100_000n })).toBe(1 + 4 + 1 + 3 + 1 + 1 + 3 + 2);
    expect(itemBytes({ l: [1, 'ab'], o: { a: true, b: null } })).toBe(1 + 3 + 3 + 3 + 1 + 3 + 3 + 3);
  });

  it('judges only what was measured', () => {
    const machine = { processor: 'x', cores: 2, memoryGb: 1, platform: 'x', node: '24', loadAtStart: 0 };
    const nothing: BenchResults = { machine, startedAt: '2026-11-20T00:00:00.000Z', isQuick: true };
    expect(judge(nothing)).toEqual([]);
    const start = [
      { name: 'empty handler', bytes: 60, startMs: 30, loadMs: 1, timesEmpty: 1 },
      { name: 'chat-completions', bytes: 1_024_000, startMs: 60, loadMs: 30, timesEmpty: 2 },
    ];
    expect(judge({ ...nothing, start }).map(({ isMet }) => isMet)).toEqual([false, true]);
  });

  it('refuses a section that it does not know', () => {
    expect(() => readOptions(['--only', 'weather'])).toThrow(
      '--only takes rounds, first-chunk, cpu, start, latency, memory',
    );
    expect(readOptions(['--quick', '--json', 'x.json'])).toMatchObject({ isQuick: true, jsonFile: 'x.json' });
  });
});
