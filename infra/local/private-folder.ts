// The folder of a local run holds what clients sent and models answered: it and the files in it are readable by their
// owner alone.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const folderMode = 0o700;
const fileMode = 0o600;

/**
 * Makes the folder and an empty database file where they are missing, and corrects the modes of a former run. Files that
 * the database makes beside its own (`-wal`, `-shm`) have the mode of that one. Throws the error of the file system.
 */
export function makePrivate(folder: string, databaseFile: string): void {
  mkdirSync(folder, { recursive: true, mode: folderMode });
  chmodSync(folder, folderMode);
  if (!existsSync(join(folder, databaseFile))) closeSync(openSync(join(folder, databaseFile), 'a', fileMode));
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile() && entry.name.startsWith(databaseFile)) chmodSync(join(folder, entry.name), fileMode);
  }
}
