// Reads the options of a run, which select its measurements and their size. A whole run takes less than four minutes, a
// quick run less than one minute.
import { parseArgs } from 'node:util';

const usualSections = ['latency', 'scale', 'load', 'memory'] as const;
/** The sections after the usual sections run only if `--only` names them. */
const sectionNames = [...usualSections, 'attacks', 'turns', 'hostile', 'files', 'garbage', 'weights', 'busy'] as const;
export type SectionName = (typeof sectionNames)[number];

/** Numbers of calls, unless the name says otherwise. */
const fullPlan = {
  /** The targets of the latency section alternate, so that a disturbance of the machine affects all of them. */
  latencyTurns: 5,
  jsonPerTurn: { 1: 50, 32: 256 },
  streamsPerTurn: { 1: 8, 32: 64 },
  /** At most as many numbers as the gateway file has crowds. */
  atOnce: [300, 1_000],
  /** Number of calls that are made one by one, while others are in flight. */
  further: 20,
  /** Number of calls on 32 connections whose store requests are counted. */
  busy: 640,
  memory: 10_000,
  /** Number of calls in flight at once in the section `busy`, how long each waits, and how long they are measured. */
  waiting: { calls: 1_000, waitMs: 10_000, measuredMs: 20_000 },
  /** Selects the attacks, turns and weights whose name contains this text. */
  rows: '',
  hostile: { minutes: 0.5, seed: 20_260_601 },
};
export type BenchPlan = typeof fullPlan;

const quickPlan: BenchPlan = {
  ...{ latencyTurns: 2, jsonPerTurn: { 1: 30, 32: 128 }, streamsPerTurn: { 1: 4, 32: 32 } },
  ...{ atOnce: [300], further: 10, busy: 320, memory: 2_000 },
  waiting: { calls: 300, waitMs: 3_000, measuredMs: 6_000 },
  rows: '',
  hostile: { minutes: 0.2, seed: 20_260_601 },
};

export const usage =
  `npm run bench -- [--quick] [--portkey] [--litellm VENV] [--dynamodb URL] [--json FILE] [--only ${sectionNames.join(',')}] [--rows TEXT] [--minutes N] [--seed N]\n` +
  '       npm run bench -- --against COMMIT [--quick] [--portkey] [--litellm VENV] [--dynamodb URL] [--json FILE]';

/** Reads the options of a run. Throws an Error with one line for the terminal. */
export function readOptions(args: readonly string[]) {
  const boolean = { type: 'boolean', default: false } as const;
  const string = { type: 'string' } as const;
  const options = {
    quick: boolean,
    portkey: boolean,
    json: string,
    only: string,
    against: string,
    litellm: string,
    dynamodb: string,
    minutes: string,
    seed: string,
    rows: string,
  } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.against !== undefined && values.only !== undefined) throw new Error('--against has no sections');
  const sectionsOnly: readonly string[] = values.only?.split(',') ?? usualSections;
  const sections = sectionNames.filter((name) => sectionsOnly.includes(name));
  if (sections.length < sectionsOnly.length) throw new Error(`--only takes ${sectionNames.join(', ')}`);
  const { quick: isQuick, portkey, litellm, dynamodb, json: jsonFile, against } = values;
  const plan = isQuick ? quickPlan : fullPlan;
  const hostile = {
    minutes: numberIn('--minutes', values.minutes, plan.hostile.minutes),
    seed: numberIn('--seed', values.seed, plan.hostile.seed),
  };
  return {
    isQuick,
    peers: { portkey, litellm },
    dynamodb,
    jsonFile,
    against,
    sections,
    plan: { ...plan, hostile, rows: values.rows ?? plan.rows },
  };
}

function numberIn(option: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value > 0)) throw new Error(`${option} takes a number above 0`);
  return value;
}
