// The sections of a run, one after the other.
import type { BenchPlan, readOptions, SectionName } from './bench-options.ts';
import { machineText, type SectionReport, tableText } from './report.ts';
import { measureAttacks } from './sections/attacks.ts';
import { measureFiles } from './sections/files.ts';
import { measureGarbage } from './sections/garbage.ts';
import { measureHostile } from './sections/hostile.ts';
import { measureLatency } from './sections/latency.ts';
import { measureLoad } from './sections/load.ts';
import { measureMemory } from './sections/memory.ts';
import { measureScale } from './sections/scale.ts';
import { measureTurns } from './sections/turns.ts';
import { type TestBed, withTestBed } from './test-bed/test-bed.ts';

/** The load comes after the scale, whose measurement it would disturb. */
const sections: Readonly<Record<SectionName, (bed: TestBed, plan: BenchPlan) => Promise<SectionReport>>> = {
  latency: measureLatency,
  scale: measureScale,
  load: measureLoad,
  memory: measureMemory,
  attacks: measureAttacks,
  turns: measureTurns,
  hostile: measureHostile,
  files: measureFiles,
  garbage: measureGarbage,
};

/** Prints each section when it has ended, the targets last. `folder` is empty, and the caller removes it. */
export async function runBench(
  {
    isQuick,
    peers,
    sections: wanted,
    plan,
  }: Pick<ReturnType<typeof readOptions>, 'isQuick' | 'peers' | 'sections' | 'plan'>,
  folder: string,
  print: (text: string) => void,
) {
  const machine = machineText();
  print(`${machine}${isQuick ? ', a quick run' : ''}\n`);
  const reports: Partial<Record<SectionName, SectionReport>> = {};
  await withTestBed(folder, peers, async (bed) => {
    for (const name of wanted) {
      const report = await sections[name](bed, plan);
      for (const table of report.tables) print(`\n${tableText(table)}`);
      reports[name] = report;
    }
  });
  const rows = Object.values(reports).flatMap(({ targets }) => targets);
  print(`\n${tableText({ title: 'Targets', columns: ['what', 'target', 'measured', ''], rows })}`);
  return { machine, sections: reports };
}
