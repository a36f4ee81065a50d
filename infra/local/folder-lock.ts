// One gateway at a time serves a folder: two would each keep their own copies of what the other changes. The lock is one of
// SQLite on a file of its own, so that it ends with its process, however that ends. The command line does not take it: it may
// work on the folder of a running gateway.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makePrivate } from './private-folder.ts';

const lockFile = 'gateway.lock';
/** SQLITE_BUSY. */
const busy = 5;

/** Returns how to release it. Throws an Error with one line for the terminal where another gateway has the folder. */
export function lockFolder(folder: string): () => void {
  const database = open(folder);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== busy) throw unusable(folder, error);
    throw new Error(
      `another gateway runs on the folder ${folder}: stop it, choose another folder, or let both share a server with --dynamodb URL`,
    );
  }
  return () => database.close();
}

function open(folder: string): DatabaseSync {
  try {
    makePrivate(folder, lockFile);
    return new DatabaseSync(join(folder, lockFile));
  } catch (error) {
    throw unusable(folder, error);
  }
}

const unusable = (folder: string, error: unknown): Error =>
  new Error(`the folder ${folder} cannot be used for data (${(error as Error).message})`);
