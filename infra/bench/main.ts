// `npm run bench`: measures this checkout on this machine, offline unless `--portkey` is given.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { fetchTree } from './against/other-tree.ts';
import { runAgainst } from './against/run-against.ts';
import { type BenchPlan, readOptions, type SectionName, usage } from './bench-options.ts';
import { hasFailed, machineText, type SectionReport, tableText } from './report.ts';
import { measureAttacks } from './sections/attacks.ts';
import { measureBusy } from './sections/busy.ts';
import { measureFiles } from './sections/files.ts';
import { measureGarbage } from './sections/garbage.ts';
import { measureHostileTraffic } from './sections/hostile.ts';
import { measureLatency } from './sections/latency.ts';
import { measureLoad } from './sections/load.ts';
import { measureMemory } from './sections/memory.ts';
import { measureScale } from './sections/scale.ts';
import { measureTurns } from './sections/turns.ts';
import { measureWeights } from './sections/weights.ts';
import { type TestBed, withTestBed } from './test-bed/test-bed.ts';

/** The load section comes after the scale section, whose measurement it would disturb. */
const sections: Readonly<Record<SectionName, (bed: TestBed, plan: BenchPlan) => Promise<SectionReport>>> = {
  latency: measureLatency,
  scale: measureScale,
  load: measureLoad,
  memory: measureMemory,
  attacks: measureAttacks,
  turns: measureTurns,
  hostile: measureHostileTraffic,
  files: measureFiles,
  garbage: measureGarbage,
  weights: measureWeights,
  busy: measureBusy,
};

/**
 * The longest section takes twenty minutes, in addition to the time that an option asks for. Child processes end with
 * this process.
 */
const sectionsTimeoutMs = 2_400_000;

const folder = await mkdtemp(join(tmpdir(), 'gw-bench-'));
try {
  const options = readOptions(process.argv.slice(2));
  systemClock.after(sectionsTimeoutMs + options.plan.hostile.minutes * 60_000, () => {
    throw new Error('the bench takes too long');
  });
  const print = (text: string) => void process.stdout.write(text);
  const results =
    options.against === undefined
      ? await runBench(options, folder, print)
      : await runAgainst({ ...options, other: await fetchTree(options.against, folder) }, folder, print);
  if (options.jsonFile !== undefined) await writeFile(options.jsonFile, `${JSON.stringify(results, undefined, 2)}\n`);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\nusage: ${usage}\n`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit();

// The sections of a run, one after the other.

/** Prints each section when it has ended, and the targets last. `folder` is empty, and the caller removes it. */
async function runBench(
  {
    isQuick,
    peers,
    dynamodb,
    sections: wanted,
    plan,
  }: Pick<ReturnType<typeof readOptions>, 'isQuick' | 'peers' | 'dynamodb' | 'sections' | 'plan'>,
  folder: string,
  print: (text: string) => void,
) {
  const machine = machineText();
  print(`${machine}${isQuick ? ', a quick run' : ''}\n`);
  const reports: Partial<Record<SectionName, SectionReport>> = {};
  await withTestBed(folder, { ...peers, dynamodb }, async (bed) => {
    for (const name of wanted) {
      const report = await sections[name](bed, plan);
      for (const table of report.tables) print(`\n${tableText(table)}`);
      reports[name] = report;
    }
  });
  const rows = Object.values(reports).flatMap(({ targets }) => targets);
  if (Object.values(reports).some(hasFailed)) process.exitCode = 1;
  print(`\n${tableText({ title: 'Targets', columns: ['what', 'target', 'measured', ''], rows })}`);
  return { machine, sections: reports };
}
