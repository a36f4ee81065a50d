// Takes the tables of a stage back to one moment. DynamoDB restores into new tables, without time to live, recovery and
// place in the stack; so their contents are copied back into the stage's own tables, which keep all of that.
import {
  callTimes,
  physicalTableName,
  type TableDefinition,
  type TableName,
  tableDefinitions,
  tableNames,
} from '../../../shared/foundation/constants/index.ts';
import { unrecoveredTables } from '../resource-names.ts';
import type { StageSettings } from '../settings-schema.ts';
import type { Copied, Tables } from './copy-table.ts';

/** What is done in the account, step by step. */
export interface RestorationSteps {
  /** From when to when a table can be restored; undefined where recovery is off. */
  readWindow(table: string): Promise<{ readonly fromMs: number; readonly toMs: number } | undefined>;
  /** Begins to restore, unless the target is there already. */
  startRestore(source: string, target: string, atMs: number): Promise<void>;
  /** Resolves once the table can be read. */
  waitUntilActive(table: string): Promise<void>;
  /** No call begins from now on. */
  pauseCalls(): Promise<void>;
  resumeCalls(): Promise<void>;
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

/** The same for every run with the same moment, so that a run that was cut off is continued by the same line. */
export const restoredName = (stage: string, table: TableName, atMs: number): string =>
  `${physicalTableName(stage, table)}-at-${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

/** Throws one line where a table cannot be taken back to that moment. Changes nothing. */
export async function checkMoment(
  { stage, settings, atMs }: Restoration,
  { readWindow }: Pick<RestorationSteps, 'readWindow'>,
): Promise<void> {
  if (settings.compute === 'web')
    throw new Error('calls of a Web Function cannot be paused, so it cannot be restored so');
  for (const table of restoredTables) {
    const name = physicalTableName(stage, table);
    const window = await readWindow(name);
    if (window === undefined) throw new Error(`table ${name} has no point-in-time recovery`);
    if (atMs >= window.fromMs && atMs <= window.toMs) continue;
    const [from, to] = [window.fromMs, window.toMs].map((ms) => new Date(ms).toISOString());
    throw new Error(`table ${name} can be restored to a moment from ${from} to ${to}`);
  }
}

/** Where it fails, calls stay paused if they were: half restored books must not be written on. */
export async function restoreStage(
  { stage, settings, atMs }: Restoration,
  steps: RestorationSteps,
  print: (line: string) => void,
): Promise<void> {
  const tables = restoredTables.map((table) => ({
    table,
    name: physicalTableName(stage, table),
    restored: restoredName(stage, table, atMs),
  }));
  await Promise.all(tables.map(({ name, restored }) => steps.startRestore(name, restored, atMs)));
  print(`${tables.length} tables are being restored beside those of ${stage}; AWS takes minutes to hours for it`);
  await Promise.all(tables.map(({ restored }) => steps.waitUntilActive(restored)));
  await steps.pauseCalls();
  const { functionTimeoutSeconds } = callTimes(settings.streamBudgetSeconds);
  print(`calls are refused from now on; those that run have ${functionTimeoutSeconds} s to end`);
  await steps.wait(functionTimeoutSeconds * 1_000);
  for (const { table, name, restored } of tables) {
    const { partitionKey, sortKey }: TableDefinition = tableDefinitions[table];
    const keyNames = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
    const { written, deleted } = await steps.copy({ from: restored, to: name, keyNames });
    print(`${name}: ${written} items as they were, ${deleted} younger ones deleted`);
  }
  await steps.resumeCalls();
  print('calls are served again');
  for (const { restored } of tables) await steps.drop(restored);
}
