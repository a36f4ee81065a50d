// Opens a store in the process itself: the file, and the store's interface to it.
import { storeCallTimeoutMs, type TableName } from '../../foundation/constants/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import type { Store } from '../store/index.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createItems } from './items.ts';
import { createLogSync } from './log-sync.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { damagedText, databasePath, formatVersion, isDamaged, openStoreFile, StoreFileRefused } from './store-file.ts';
import { createTransactions } from './transactions.ts';

interface SqliteStoreOptions {
  /** Folder of the file; the store is in memory if absent. */
  readonly folder?: string | undefined;
  /** True if acknowledged writes have to survive a loss of power too. */
  readonly isDurable?: boolean;
  readonly clock?: Clock;
  /** Time for which a call waits for a file that another process has locked. Default `storeCallTimeoutMs`. */
  readonly callTimeoutMs?: number;
  /** True in tests. An attempt to change an item of the store then throws, because callers must not change items. */
  readonly freezesItems?: boolean;
}

interface SqliteStore {
  readonly store: Store;
  /**
   * Returns the number of a table's items and the bytes of their texts. It reads all rows, so only operators use it.
   */
  countItems(table: TableName): { readonly items: number; readonly bytes: number };
  /** Finishes earlier calls. Each later call is refused. */
  close(): Promise<void>;
}

/** Opens the store. Throws StoreFileRefused. */
export async function openSqliteStore(options: SqliteStoreOptions = {}): Promise<SqliteStore> {
  const { folder, isDurable = false, clock = systemClock, callTimeoutMs: limitMs = storeCallTimeoutMs } = options;
  const database = await openStoreFile(folder, { clock, limitMs });
  const isShared = folder !== undefined;
  const items = createItems({ database, isShared, clock, freezes: options.freezesItems === true });
  const checkpoints = isShared ? createCheckpoints({ path: databasePath(folder), formatVersion }) : undefined;
  const logSync = isShared && isDurable ? createLogSync(databasePath(folder)) : undefined;
  const transactions = createTransactions({
    database,
    clock,
    limitMs,
    onBegin: () => {
      logSync?.throwIfFailed();
      items.begin();
    },
    onEnd: items.end,
    onCommitted: () => {
      const changedPages = items.committed();
      checkpoints?.note(changedPages);
      return changedPages > 0 ? logSync?.untilSynced() : undefined;
    },
    onFailed: items.failed,
  });
  const describe = (error: unknown): unknown =>
    isShared && isDamaged(error) ? new StoreFileRefused(damagedText(folder), { cause: error }) : error;
  let closed: Promise<void> | undefined;

  async function close(): Promise<void> {
    await transactions.end();
    await checkpoints?.close();
    await logSync?.close();
    database.close();
  }

  return {
    store: createSqliteStore({ items, transactions, wait: { clock, limitMs }, describe }),
    countItems(table) {
      const sums = 'count(*) AS items, ifnull(sum(octet_length(item)), 0) AS bytes';
      return database.prepare(`SELECT ${sums} FROM "${table}"`).get() as { items: number; bytes: number };
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
