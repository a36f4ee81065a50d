// Brings committed writes to the disk before they are answered, for a store that survives a loss of power. SQLite's own way
// (`synchronous=FULL`) syncs inside the commit: the event loop, and every process on the file, would wait for the disk.
import { open } from 'node:fs/promises';
import { once } from '../../foundation/cache/index.ts';
import { shareRuns } from '../store/index.ts';

export interface LogSync {
  /** Resolves once all that was committed before is on the disk. Those that ask during a sync share the next one. */
  untilSynced(): Promise<void>;
  close(): Promise<void>;
}

/** The log is there as long as a connection to its file is, once one transaction was committed. */
export function createLogSync(databasePath: string): LogSync {
  // Windows syncs no file that is open for reading alone.
  const log = once(() => open(`${databasePath}-wal`, 'r+'));
  let isOpen = false;
  const sync = shareRuns<undefined, void>(async () => {
    isOpen = true;
    await (await log()).datasync();
  });
  return {
    untilSynced: () => sync(undefined),
    async close() {
      if (isOpen) await (await log()).close();
    },
  };
}
