// Runs the thread of checkpoints.ts. Writers continue while it copies the log into the file; at the end it restarts the
// log, for which they wait a bounded moment.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointFile } from './checkpoints.ts';

/** Time for which the end of a checkpoint waits for readers and writers. Writers wait no longer. */
const lockWaitMs = 20;
/** Maximum passes. Each pass copies the pages that were written during the pass before. */
const passesMax = 4;
/** Maximum number of pages of the log that may remain for the end of a checkpoint, while writers wait. */
const lastPagesMax = 32;

const { path, formatVersion } = workerData as CheckpointFile;
const database = new DatabaseSync(path, { timeout: lockWaitMs });
database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
const passive = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');

function copyLog(): void {
  for (let pass = 1; pass <= passesMax; pass += 1) {
    const { log, checkpointed } = passive.get() as { log: number; checkpointed: number };
    if (log - checkpointed <= lastPagesMax) return;
  }
}

parentPort?.on('message', () => {
  try {
    copyLog();
    database.exec('PRAGMA wal_checkpoint(RESTART)');
    // The first writer after a restart syncs the head of the log, so this thread writes first. The value does not
    // change.
    database.exec(`PRAGMA user_version = ${formatVersion}`);
  } catch {
    // The disk is full, or other processes read and write all the time. The next checkpoint copies this part too.
  }
  parentPort?.postMessage('done');
});
