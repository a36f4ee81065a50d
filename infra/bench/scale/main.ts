// `npm run scale -- [--seconds 5] [--memory 512] [--workspaces 1] [--keys 1] [--models 1]`: from 1 to 10,000 calls a
// second, what breaks first, what lifts it, what it costs. Counted, not measured under load.
import { parseArgs } from 'node:util';
import { shown } from '../figures.ts';
import { tableText } from '../print-table.ts';
import { climb, type Step } from './climb.ts';
import { costOf } from './cost.ts';
import { amountOf, counted } from './counted.ts';
import type { Setup } from './setup.ts';
import { tableUnits } from './table-units.ts';

export const rates = [1, 10, 100, 1_000, 10_000] as const;

export const defaultSetup: Setup = {
  secondsPerCall: 5,
  memoryMb: 512,
  workspaces: 1,
  keys: 1,
  models: 1,
  keySpendLimit: true,
  keyRequestsPerMinute: true,
  creditShards: 1,
  accountConcurrency: amountOf('accountConcurrency'),
  tableWritesPerSecond: amountOf('newTableWritesPerSecond'),
  compute: 'lambda',
};

/** Throws an Error with one line for the person at the terminal. */
export function readSetup(args: readonly string[]): Setup {
  const names = ['seconds', 'memory', 'workspaces', 'keys', 'models'] as const;
  const { values } = parseArgs({
    args: [...args],
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  });
  const numberOf = (name: (typeof names)[number], fallback: number): number => {
    const value = values[name] === undefined ? fallback : Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} takes a number above 0`);
    return value;
  };
  return {
    ...defaultSetup,
    secondsPerCall: numberOf('seconds', defaultSetup.secondsPerCall),
    memoryMb: numberOf('memory', defaultSetup.memoryMb),
    workspaces: numberOf('workspaces', 1),
    keys: numberOf('keys', 1),
    models: numberOf('models', 1),
  };
}

/** Markdown. */
export function scaleText(setup: Setup): string {
  const steps = climb(setup, rates);
  const head =
    `Calls of ${setup.secondsPerCall} s, ${setup.memoryMb} MB, from ${setup.keys} key(s) of ${setup.workspaces} ` +
    `workspace(s) to ${setup.models} model(s). Settings that were lifted stay lifted; ` +
    'Lambda is billed as classic functions throughout.\n';
  return [head, overview(steps), breaks(steps), sources()].join('\n');
}

function overview(steps: readonly Step[]): string {
  const names = ['calls/s', 'environments', 'write units/s', 'USD per million', 'USD per month', 'breaks first'];
  const rows = steps.map(({ perSecond, environments, setup, broken: [first] }) => {
    const { perMillionCalls, perMonth } = costOf(setup, perSecond);
    const breaking = first === undefined ? 'nothing' : `${first.name}, at ${first.atPerSecond}/s`;
    const units = Math.round(tableUnits(setup, perSecond).all);
    return [`${perSecond}`, environments, units, shown(perMillionCalls), Math.round(perMonth), breaking];
  });
  return tableText(names, rows);
}

function breaks(steps: readonly Step[]): string {
  const names = ['at calls/s', 'what breaks', 'at', 'clients see', 'what lifts it'];
  const rows = steps.flatMap(({ perSecond, broken }) =>
    broken.map(({ name, atPerSecond, beyond, setting }) => [
      `${perSecond}`,
      name,
      `${atPerSecond}/s`,
      beyond,
      setting ?? 'nothing needed',
    ]),
  );
  return tableText(names, rows);
}

const sources = (): string =>
  tableText(
    ['number', 'value', 'source'],
    Object.entries(counted).map(([name, { value, source }]) => [name, String(value), source]),
  );

if (import.meta.main) {
  try {
    process.stdout.write(scaleText(readSetup(process.argv.slice(2))));
  } catch (error) {
    process.stderr.write(`scale: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
