// One gateway at a time serves a folder: two would each keep their own copies of what the other changes. The lock is one of
// SQLite on a file of its own, so that it ends with its process, however that ends. The command line does not take it: it may
// work on the folder of a running gateway. A file that is removed takes its lock along, so the gateway watches it: it takes
// the lock of another file at once, and where another gateway was faster it is told so.
import { type FSWatcher, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivate } from './private-folder.ts';

const lockFile = 'gateway.lock';
/** SQLITE_BUSY. */
const busy = 5;

/**
 * Returns how to release it. `onLost` is called where the file was removed and the folder is another gateway's now. Throws an
 * Error with one line for the terminal where another gateway has the folder.
 */
export function lockFolder(folder: string, onLost: () => void): () => void {
  const held = take(folder);
  if (held === undefined) {
    throw new Error(
      `another gateway runs on the folder ${folder}: stop it, choose another folder, or let both share a server with --dynamodb URL`,
    );
  }
  let [database, inode] = held;
  const follow = () => {
    // Of a folder that is gone there is nothing to keep from others.
    if (inodeOf(folder) === undefined || inodeOf(join(folder, lockFile)) === inode) return;
    const taken = take(folder);
    watcher?.close();
    if (taken === undefined) return onLost();
    database.close();
    [database, inode] = taken;
    watcher = watchFile(folder, follow);
  };
  let watcher = watchFile(folder, follow);
  return () => {
    watcher?.close();
    database.close();
  };
}

/** Undefined: another gateway has it. */
function take(folder: string): [DatabaseSync, inode: number | undefined] | undefined {
  const database = open(folder);
  try {
    database.exec('BEGIN EXCLUSIVE');
    return [database, inodeOf(join(folder, lockFile))];
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== busy) throw unusable(folder, error);
    return undefined;
  }
}

function open(folder: string): DatabaseSync {
  try {
    makePrivate(folder, lockFile);
    return new DatabaseSync(join(folder, lockFile));
  } catch (error) {
    throw unusable(folder, error);
  }
}

/** Nothing else writes to the file, and so only its removal, or a change of its modes, is told. Undefined: none can be watched. */
function watchFile(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(join(folder, lockFile), { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}

const inodeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;

const unusable = (folder: string, error: unknown): Error =>
  new Error(`the folder ${folder} cannot be used for data (${(error as Error).message})`);
