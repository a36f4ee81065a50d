// Reads a store's file from outside: the transactions in its log, and its statements.
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../../../shared/storage/sqlite-store/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export const fileOf = (folder: string): string => join(folder, 'gw.sqlite');

export type FolderStore = Awaited<ReturnType<typeof openSqliteStore>> & { readonly folder: string };

export async function openFolder(options: Parameters<typeof openSqliteStore>[0] = {}): Promise<FolderStore> {
  const folder = options.folder ?? temporaryFolder();
  return { ...(await openSqliteStore({ ...options, folder, freezesItems: true })), folder };
}

const logHeadBytes = 32;
const frameHeadBytes = 24;
const pageBytes = 4096;

/**
 * Returns the number of transactions in the log since its last start: the last page of each one has the file's size
 * after it.
 */
export function transactionsIn(folder: string): number {
  const log = readFileSync(`${fileOf(folder)}-wal`);
  const salt = log.subarray(16, 24);
  let transactions = 0;
  for (let at = logHeadBytes; at < log.length; at += frameHeadBytes + pageBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salt)) break;
    if (log.readUInt32BE(at + 4) !== 0) transactions += 1;
  }
  return transactions;
}

/** Returns a value that changes whenever the log starts anew. */
export const logSalt = (folder: string): string =>
  readFileSync(`${fileOf(folder)}-wal`)
    .subarray(16, 24)
    .toString('hex');

export async function transactionsOf(folder: string, work: () => Promise<unknown>): Promise<number> {
  const before = transactionsIn(folder);
  await work();
  return transactionsIn(folder) - before;
}

/** Reads the file as another program would. */
export function look<Value>(folder: string, read: (database: DatabaseSync) => Value): Value {
  const database = new DatabaseSync(fileOf(folder));
  try {
    return read(database);
  } finally {
    database.close();
  }
}

export const integrityOf = (folder: string): unknown =>
  look(folder, (database) => database.prepare('PRAGMA integrity_check').get()?.integrity_check);

interface Statements {
  /** The statements of this thread. */
  readonly texts: readonly string[];
  readonly connections: ReadonlySet<DatabaseSync>;
  stop(): void;
}

/** Records this thread's SQLite statements from now on. */
export function watchStatements(): Statements {
  const { exec, prepare } = DatabaseSync.prototype;
  const texts: string[] = [];
  const connections = new Set<DatabaseSync>();
  const note = (database: DatabaseSync, text: string) => {
    texts.push(text);
    connections.add(database);
  };
  DatabaseSync.prototype.exec = function (text) {
    note(this, text);
    return exec.call(this, text);
  };
  DatabaseSync.prototype.prepare = function (text, ...rest) {
    note(this, text);
    return prepare.call(this, text, ...rest);
  };
  return { texts, connections, stop: () => void Object.assign(DatabaseSync.prototype, { exec, prepare }) };
}

/** Lets syncs of this process wait until they are released; then they do their work or fail. */
export async function holdSyncs() {
  const probe = await open(import.meta.filename);
  const handles = Object.getPrototypeOf(probe) as { datasync: () => Promise<void> };
  await probe.close();
  const { datasync } = handles;
  const start = Promise.withResolvers<void>();
  const release = Promise.withResolvers<Error | undefined>();
  let count = 0;
  handles.datasync = async function (this: unknown) {
    count += 1;
    start.resolve();
    const failure = await release.promise;
    if (failure !== undefined) throw failure;
    return datasync.call(this);
  };
  return {
    begun: () => start.promise,
    release: (failure?: Error) => release.resolve(failure),
    count: () => count,
    stop: () => void Object.assign(handles, { datasync }),
  };
}
