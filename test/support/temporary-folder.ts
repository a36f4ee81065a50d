// Folders for the files of tests. A run of the tests has one folder for everything temporary, of its own processes and
// of those that they start, and removes it at its end, so that no test needs to.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the folder that the processes of a run share. */
export const runFolder = (): string => tmpdir();

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'gw-'));

/** The runner calls this before it starts its workers, which inherit the environment. */
export default function useOneFolderForTheRun(): void {
  const folder = mkdtempSync(join(tmpdir(), 'gw-test-run-'));
  process.env.TMPDIR = folder;
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  // A process that a test started may still be writing its last file.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}
