// The thread of checkpoints.ts. Writers continue while it copies the log into the file; at its end it restarts the log,
// for which they wait a bounded moment.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointFile } from './checkpoints.ts';

/** Time that readers and writers may be waited for at the end of a checkpoint: writers wait as long. */
const lockWaitMs = 20;
/** Each pass copies the pages written during the one before. */
const passesMax = 4;
/** Pages of the log that may remain for its end, for which writers wait. */
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
    // The first writer syncs the head of the log: this thread is the first. The value stays as it is.
    database.exec(`PRAGMA user_version = ${formatVersion}`);
  } catch {
    // The disk is full, or others read and write all the time: the next checkpoint takes this part too.
  }
  parentPort?.postMessage('done');
});
