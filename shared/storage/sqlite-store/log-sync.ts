// Syncs committed writes to the disk before they are answered, for a store that survives a loss of power. SQLite's own
// sync (`synchronous=FULL`) runs inside the commit, so the event loop and every process on the file would wait for the
// disk.
import { type FileHandle, open } from 'node:fs/promises';
import { coalesceRuns } from '../store/index.ts';

interface LogSync {
  /** Resolves once everything committed before is on the disk. Calls during a sync share the next sync. */
  untilSynced(): Promise<void>;
  /** Throws once a sync has failed. */
  throwIfFailed(): void;
  close(): Promise<void>;
}

/**
 * Opens the sync. The log's file exists as long as a connection to the database is open, once one transaction was
 * committed.
 */
export function createLogSync(databasePath: string): LogSync {
  let log: FileHandle | undefined;
  let failure: Error | undefined;
  const throwIfFailed = () => {
    if (failure !== undefined) throw failure;
  };
  const sync = coalesceRuns<undefined, void>(async () => {
    throwIfFailed();
    // Windows does not sync a file that is open only for reading. If the file cannot be opened now, a later sync may
    // succeed.
    log ??= await open(`${databasePath}-wal`, 'r+');
    await log.datasync().catch((cause: unknown) => {
      // The system drops data that it could not write, and its next sync does not report that.
      failure = new Error('the disk did not take the log of the store: nothing is written until a new start', {
        cause,
      });
      throw failure;
    });
  });
  return {
    untilSynced: () => sync(undefined),
    throwIfFailed,
    close: async () => log?.close(),
  };
}
