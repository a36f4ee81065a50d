// Opens the file of the store, and makes it if it is missing. The file of another program is recognized, and never
// changed.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TableDefinition, tableDefinitions, tableNames } from '../../foundation/constants/index.ts';
import { type BusyWait, isBusy, whileBusy } from './busy.ts';

const databaseFile = 'gw.sqlite';
/** "gw" and an arbitrary number: SQLite keeps it in the head of the file, by which programs recognize their files. */
const applicationId = 0x67_77_00_01;
/** Version of the tables' format. A file of another version is refused. */
export const formatVersion = 1;
const folderMode = 0o700;
const fileMode = 0o600;
/** Size to which the log is cut after a checkpoint, if a burst made it longer. */
const logMaxBytes = 16 * 1024 * 1024;

/**
 * Thrown for a file that cannot be used. Nothing was changed. The message is one line for the person at the terminal.
 */
export class StoreFileRefused extends Error {
  override readonly name = 'StoreFileRefused';
}

export const databasePath = (folder: string): string => join(folder, databaseFile);

/** True if the folder contains a store. */
export const hasStoreFile = (folder: string): boolean =>
  (statSync(databasePath(folder), { throwIfNoEntry: false })?.size ?? 0) > 0;

/** Opens the file. Throws StoreFileRefused. */
export async function openStoreFile(folder: string | undefined, wait: BusyWait): Promise<DatabaseSync> {
  if (folder === undefined) return withTables(new DatabaseSync(':memory:'));
  let database: DatabaseSync | undefined;
  try {
    makePrivate(folder);
    const opened = new DatabaseSync(databasePath(folder), { timeout: 0 });
    database = opened;
    await whileBusy(wait, () => checkOurs(opened, folder));
    await whileBusy(wait, () => useLog(opened));
    return await whileBusy(wait, () => withTables(opened));
  } catch (error) {
    database?.close();
    throw error instanceof StoreFileRefused ? error : new StoreFileRefused(whyNot(folder, error));
  }
}

function whyNot(folder: string, error: unknown): string {
  const { message, errcode } = error as { message: string; errcode?: number };
  if (errcode === notADatabase) return notOurs(folder);
  if (isDamaged(error)) return damagedText(folder);
  if (isBusy(error)) return `the folder ${folder} cannot be used for data (another program has locked ${databaseFile})`;
  return `the folder ${folder} cannot be used for data (${message})`;
}

/** SQLite's code SQLITE_NOTADB. */
const notADatabase = 26;
/** SQLite's code SQLITE_CORRUPT. Extended codes add the reason in higher bits. */
const damaged = 11;

export const isDamaged = (error: unknown): boolean => {
  const { errcode } = (error ?? {}) as { readonly errcode?: number };
  return errcode !== undefined && (errcode % 256 === damaged || errcode === notADatabase);
};

/** Returns one line for the person at the terminal. */
export const damagedText = (folder: string): string =>
  `${databasePath(folder)} is damaged: stop what uses the folder, and restore a copy of it`;

const notOurs = (folder: string): string =>
  `${databasePath(folder)} was made by another program: choose another folder`;

/** Makes a new folder, and makes all files of the store readable only by their owner. */
function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: folderMode });
  // SQLite gives the mode of this file to the files that it makes next to it.
  if (!existsSync(databasePath(folder))) closeSync(openSync(databasePath(folder), 'a', fileMode));
  for (const name of readdirSync(folder).filter((name) => name.startsWith(databaseFile))) {
    const path = join(folder, name);
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? fileMode;
    // Windows has no such modes, and shows each file as readable by all users.
    if ((mode & 0o077) !== 0 && process.platform !== 'win32') chmodSync(path, fileMode);
  }
}

function checkOurs(database: DatabaseSync, folder: string): void {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return;
  if (numberOf(database, 'application_id') !== applicationId) {
    // Gateways before 0.1.0 stored their data with an engine that has this table.
    if (!tables.some(({ name }) => name === '_tables')) throw new StoreFileRefused(notOurs(folder));
    throw new StoreFileRefused(
      `${databasePath(folder)} was made by a build before 0.1.0: run that build's \`npm run gw -- export --data ${folder}\`, and apply the file here in a new folder; keys are made anew, credit is what the file says, and calls are lost`,
    );
  }
  const version = numberOf(database, 'user_version');
  if (version > formatVersion)
    throw new StoreFileRefused(`${databasePath(folder)} was made by a newer release of gw: start that one`);
}

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);

function useLog(database: DatabaseSync): void {
  // A commit neither syncs the log nor makes a checkpoint, because the event loop would wait for the disk.
  database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal') throw new Error(`its file system has no shared memory: SQLite stays in mode ${mode}`);
  database.exec(`PRAGMA journal_size_limit = ${logMaxBytes}`);
}

/** Creates missing tables; several processes may do so at the same time. */
function withTables(database: DatabaseSync): DatabaseSync {
  const { tableCount } = database
    .prepare(
      `SELECT count(*) AS tableCount FROM sqlite_schema WHERE type = 'table' AND name IN (${tableNames.map(() => '?')})`,
    )
    .get(...tableNames) as { tableCount: number };
  if (tableCount === tableNames.length) return database;
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const table of tableNames) database.exec(createTable(table, tableDefinitions[table]));
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${formatVersion}; COMMIT`);
    return database;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function createTable(name: string, { sortKey, timeToLiveAttribute }: TableDefinition): string {
  const keys = sortKey === undefined ? 'pk' : 'pk, sk';
  const sortColumn = sortKey === undefined ? '' : 'sk TEXT NOT NULL,';
  const table = `CREATE TABLE IF NOT EXISTS "${name}" (pk TEXT NOT NULL, ${sortColumn} item TEXT NOT NULL, expires REAL, PRIMARY KEY (${keys})) STRICT;`;
  if (timeToLiveAttribute === undefined) return table;
  return `${table} CREATE INDEX IF NOT EXISTS "${name}_expires" ON "${name}" (expires) WHERE expires IS NOT NULL;`;
}
