// Takes the tables of a stage back to one moment. DynamoDB restores into new tables, without time to live, recovery and
// place in the stack; so their contents are copied back into the stage's own tables, which keep all of that.
//
//   restored beside │ calls refused: what calls need is copied │ calls served: records and spans │ copies dropped
//                   mark "paused"                              mark "served"                     mark "finished"
//
// The mark stands in the stage's own config table, which a run that was cut off reads first.
import { physicalTableName, type TableName, tableNames } from '../../../shared/foundation/constants/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { unrecoveredTables } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import { keyNamesOf, lateTables, pauseMs, rulesOf } from './copy-rules.ts';
import type { Copied, Tables } from './copy-table.ts';

/** How far a restoration has come. */
export interface RestorationMark {
  readonly atMs: number;
  readonly phase: 'paused' | 'served' | 'finished';
  /** When calls were first told to be refused. */
  readonly pausedAtMs: number;
}

/** What is done in the account, step by step. */
export interface RestorationSteps {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** From when to when a table can be restored; undefined where recovery is off. */
  readWindow(table: string): Promise<{ readonly fromMs: number; readonly toMs: number } | undefined>;
  /** As of the last hours. */
  countItems(table: string): Promise<number>;
  /** Begins to restore, unless the target is there already. */
  startRestore(source: string, target: string, atMs: number): Promise<void>;
  /** Resolves once the table can be read. */
  waitUntilActive(table: string): Promise<void>;
  readMark(): Promise<RestorationMark | undefined>;
  writeMark(mark: RestorationMark): Promise<void>;
  /** Every process refuses calls once it looks at its configuration again. */
  pauseCalls(): Promise<void>;
  /** With the configuration of the restored table. */
  resumeCalls(restoredConfig: string): Promise<void>;
  wait(ms: number): Promise<void>;
  copy(tables: Tables): Promise<Copied>;
  drop(table: string): Promise<void>;
}

export interface Restoration {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly atMs: number;
}

/** All at one moment: what one of them says of a call or a key, another one continues. */
export const restoredTables: readonly TableName[] = tableNames.filter((table) => !unrecoveredTables.has(table));
const firstTables = restoredTables.filter((table) => !lateTables.includes(table));

/** The same for every run with the same moment, so that a run that was cut off is continued by the same line. */
export const restoredName = (stage: string, table: TableName, atMs: number): string =>
  `${physicalTableName(stage, table)}-at-${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

const iso = (ms: number): string => new Date(ms).toISOString();

/** Undefined: nothing is left to do. Throws one line where the stage cannot be taken back to that moment. Changes nothing. */
export async function checkMoment(
  { stage, atMs }: Restoration,
  { readWindow, readMark }: Pick<RestorationSteps, 'readWindow' | 'readMark'>,
): Promise<RestorationMark | 'new' | undefined> {
  const mark = await readMark();
  if (mark?.atMs === atMs) return mark.phase === 'finished' ? undefined : mark;
  if (mark !== undefined && mark.phase !== 'finished') {
    throw new Error(
      `the restoration to ${iso(mark.atMs)} is not finished: run it again with --to of that moment first`,
    );
  }
  for (const table of restoredTables) {
    const name = physicalTableName(stage, table);
    const window = await readWindow(name);
    if (window === undefined) throw new Error(`table ${name} has no point-in-time recovery`);
    if (atMs >= window.fromMs && atMs <= window.toMs) continue;
    throw new Error(`table ${name} can be restored to a moment from ${iso(window.fromMs)} to ${iso(window.toMs)}`);
  }
  return 'new';
}

/** Of two passes over both tables in segments, where few items differ, and where each is written. Computed, not measured on AWS. */
const minutesPerMillion = { same: 5, differing: 15 } as const;

/** How long the tables take that are copied while calls are refused, and those that follow. */
export async function describeDuration(
  { stage }: Pick<Restoration, 'stage'>,
  { countItems }: Pick<RestorationSteps, 'countItems'>,
): Promise<string[]> {
  const count = async (tables: readonly TableName[]) =>
    (await Promise.all(tables.map((table) => countItems(physicalTableName(stage, table))))).reduce((a, b) => a + b, 0);
  const [first, late] = [await count(firstTables), await count(lateTables)];
  const { same, differing } = minutesPerMillion;
  const minutes = (items: number) => {
    const [least, most] = [same, differing].map((each) => Math.ceil((items / 1e6) * each));
    return `about ${items.toLocaleString('en-US')} items, ${least} to ${most} minutes`;
  };
  return [
    `a million items take ${same} minutes where few of them differ, ${differing} where all do (computed, not measured on AWS)`,
    `while calls are refused: ${firstTables.join(', ')}, ${minutes(first)}`,
    `while calls are served again: ${lateTables.join(', ')}, ${minutes(late)}`,
  ];
}

/** Where it fails while calls are refused, they stay so: half restored books must not be written on. */
export async function restoreStage(
  { stage, settings, atMs }: Restoration,
  steps: RestorationSteps,
  print: (line: string) => void,
): Promise<void> {
  const former = await steps.readMark();
  const isContinued = former?.atMs === atMs;
  if (isContinued && former.phase === 'finished') return print('it is finished already: nothing was changed');
  const named = (table: TableName) => ({
    table,
    name: physicalTableName(stage, table),
    restored: restoredName(stage, table, atMs),
  });
  const copies = restoredTables.map((table) => named(table).restored);
  await Promise.all(restoredTables.map((table) => steps.startRestore(named(table).name, named(table).restored, atMs)));
  print(`${copies.length} tables are being restored beside those of ${stage}; AWS takes minutes to hours for it`);
  await Promise.all(copies.map((restored) => steps.waitUntilActive(restored)));

  const pausedAtMs = isContinued ? former.pausedAtMs : steps.clock.nowMs();
  const waitMs = pauseMs(settings.streamBudgetSeconds);
  // Half of the pause: clocks may differ.
  const betweenMs = pausedAtMs + waitMs / 2;
  const ended: string[] = [];
  const copyOne = async (table: TableName) => {
    const { name, restored } = named(table);
    const rules = rulesOf(table, { betweenMs, tell: (line) => void ended.push(line) });
    const tables = { from: restored, to: name, keyNames: keyNamesOf(table), rules };
    const { read, written, deleted } = await steps.copy(tables);
    print(`${name}: ${read} items as they were, ${written} of them written, ${deleted} younger ones deleted`);
  };

  if (!isContinued || former.phase === 'paused') {
    await steps.writeMark({ atMs, phase: 'paused', pausedAtMs });
    await steps.pauseCalls();
    print(`calls are refused with 503 from now on; those that run have ${waitMs / 1_000} s to end`);
    await steps.wait(waitMs);
    await Promise.all(firstTables.map(copyOne));
    for (const line of ended) print(line);
    await steps.writeMark({ atMs, phase: 'served', pausedAtMs });
    await steps.resumeCalls(named('config').restored);
    print('calls are served again');
  } else {
    // The mark may have been written by a run that was cut off right behind it.
    await steps.resumeCalls(named('config').restored);
  }
  await Promise.all(lateTables.map(copyOne));
  await steps.writeMark({ atMs, phase: 'finished', pausedAtMs });
  print('the restoration is finished');
  for (const restored of copies) {
    const failure = await steps.drop(restored).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (failure !== undefined) print(`table ${restored} is still there and may be deleted: ${failure}`);
  }
}
