// That the scale model counts what the gateway really does: its constants are compared with a run on the embedded store.
import { describe, expect, it } from '@jest/globals';
import { climb } from '../../infra/bench/scale/climb.ts';
import { amountOf } from '../../infra/bench/scale/counted.ts';
import { callsPerSecondMax, unitsPerWrite } from '../../infra/bench/scale/item-load.ts';
import { creditItem } from '../../infra/bench/scale/limits.ts';
import { defaultSetup, readSetup, scaleText } from '../../infra/bench/scale/main.ts';
import { measureItems } from '../../infra/bench/sections/measure-items.ts';
import { measureRounds } from '../../infra/bench/sections/measure-rounds.ts';
import { shardsMax } from '../../shared/accounting/credit/index.ts';
import { configFreshMs } from '../../shared/foundation/constants/index.ts';

describe('the scale model', () => {
  it('reckons with the writes and reads that calls are seen to make', async () => {
    const rows = await measureRounds({ roundCalls: 3 });
    const commandsOf = (kind: string, sign: RegExp) =>
      rows.find((row) => row.kind.startsWith(kind))?.commands.filter((command) => sign.test(command)).length;
    const plain = 'plain JSON, every limit set';
    expect(commandsOf(plain, /^UpdateItem keys/)).toBe(amountOf('keyWrites'));
    expect(commandsOf('plain JSON, key served elsewhere', /^UpdateItem keys/)).toBe(amountOf('keyWritesElsewhere'));
    expect(commandsOf(plain, /^UpdateItem ledger/)).toBe(amountOf('creditWrites'));
    expect(commandsOf(plain, /^UpdateItem limits/)).toBe(amountOf('limiterWrites'));
    expect(commandsOf(plain, /^PutItem records/)).toBe(amountOf('recordWrites'));
    expect(commandsOf(plain, /^UpdateItem statistics/)).toBe(amountOf('statisticsWrites'));
    expect(commandsOf('plain JSON, configuration older', /^GetItem/)).toBe(amountOf('configReads'));
  });

  it('reckons with items no smaller than they are, and not much larger', async () => {
    const sizes = await measureItems();
    const pairs = [
      [sizes.keys, amountOf('keyItemBytes')],
      [sizes.ledger, amountOf('creditItemBytes')],
      [sizes.records, amountOf('recordItemBytes')],
    ] as const;
    for (const [measured, reckoned] of pairs) {
      expect(measured).toBeLessThanOrEqual(reckoned * 1.1);
      expect(measured).toBeGreaterThan(reckoned * 0.6);
    }
  });

  it('reckons with the bounds of the code', () => {
    expect(amountOf('creditShardsMax')).toBe(shardsMax);
    expect(amountOf('configFreshSeconds') * 1_000).toBe(configFreshMs);
  });

  it('makes a write dearer the more calls hold something in its item', () => {
    const item = creditItem(defaultSetup);
    expect(unitsPerWrite(item, 1)).toBe(1);
    expect(unitsPerWrite(item, 30)).toBeGreaterThan(unitsPerWrite(item, 10));
    expect(callsPerSecondMax(item)).toBeLessThan(callsPerSecondMax({ ...item, secondsHeld: 0 }));
  });

  it('fits every rate once all that it names is lifted, and forgets nothing it has lifted', () => {
    const steps = climb(defaultSetup, [1, 10, 100, 1_000, 10_000]);
    expect(steps[0]?.broken).toEqual([]);
    expect(
      climb(steps.at(-1)?.setup ?? defaultSetup, [10_000])[0]?.broken.every(({ setting }) => setting === undefined),
    ).toBe(true);
    for (const { broken } of steps) {
      expect(new Set(broken.map(({ setting }) => setting)).size).toBe(broken.length);
    }
  });

  it('prints every number with its source', () => {
    const text = scaleText(readSetup(['--seconds', '2', '--workspaces', '20', '--keys', '100']));
    expect(text).toContain('| 10000');
    expect(text).toContain('shared/foundation/constants/bounds.ts');
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    expect(() => readSetup(['--seconds', 'none'])).toThrow('--seconds takes a number above 0');
  });
});
