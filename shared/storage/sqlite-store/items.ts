// Reads and writes the items of a file as one transaction sees them. A read finds the transaction's own writes first,
// then items in memory, then the rows. At the end of the transaction its writes go into the file, each item once.
import type { DatabaseSync } from 'node:sqlite';
import { createCache } from '../../foundation/cache/index.ts';
import { type TableName, tableNames } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Changes, Item } from '../store/index.ts';
import { addedCharactersMax, isSurelySmall, readItem, writeItem } from './stored-item.ts';
import { createTableRows, type RowAddress, type TableRows } from './table-rows.ts';

/**
 * Maximum number of expired items that are removed with one transaction. If more items have expired, the next
 * transaction removes more.
 */
const expiredPerTransactionMax = 50;
/** Interval at which a process looks for expired items. */
const expiryLookMs = 60_000;
/** Pages of the file that one row changes in the table and its indices, without the pages of its text. */
const pagesPerRow = 3;
const pageBytes = 4096;

interface ItemWrite {
  readonly address: RowAddress;
  /** The new item; undefined when it is removed. */
  readonly item: Item | undefined;
  /**
   * Text of the item; '' if it is removed. Undefined until the end of the transaction if later calls may change the
   * item.
   */
  text: string | undefined;
  /** Upper bound of the text's length. */
  readonly charactersMax: number;
}

interface ItemsOptions {
  readonly database: DatabaseSync;
  /** True if other processes may write to the file. */
  readonly isShared: boolean;
  readonly clock: Clock;
  readonly freezes: boolean;
}

export type Items = ReturnType<typeof createItems>;

export function createItems({ database, isShared, clock, freezes }: ItemsOptions) {
  const hot = createHotItems(database, isShared);
  const rows = rowsOf(database);
  const written = createPendingWrites();
  const nextExpired = createExpiry(rows, clock);
  let removed: readonly RowAddress[] = [];

  const snapshotOf = (item: Item): Item => (freezes ? frozen(item) : item);

  function readCommitted(address: RowAddress, id: string): ReadItem | undefined {
    const known = hot.get(id);
    if (known !== undefined) return known;
    const text = rows[address.table].read(address);
    if (text === undefined) return undefined;
    const read = { item: snapshotOf(readItem(text)), characters: text.length };
    if (isCached(address)) hot.set(id, read);
    return read;
  }

  function forget(): void {
    written.clear();
    removed = [];
  }

  return {
    rows,
    snapshotOf,

    begin: (): void => hot.check(),

    /** Reads an item outside of a transaction. */
    readNow(address: RowAddress): Item | undefined {
      hot.check();
      return readCommitted(address, addressText(address))?.item;
    },

    read(address: RowAddress): Item | undefined {
      const id = addressText(address);
      const pendingWrite = written.get(id);
      return pendingWrite === undefined ? readCommitted(address, id)?.item : pendingWrite.item;
    },

    /** Returns the write of `item`, which is a stored form. Throws a TypeError if it is too large. */
    writeOf: (address: RowAddress, item: Item): ItemWrite => writeNow(address, snapshotOf(item)),

    /** Writes `item`, which is the read item after these changes. Throws a TypeError if it is too large. */
    change(address: RowAddress, item: Item, changes: Changes): void {
      const id = addressText(address);
      const formerCharacters = written.get(id)?.charactersMax ?? hot.get(id)?.characters ?? Number.POSITIVE_INFINITY;
      written.set(writeLater(address, snapshotOf(item), formerCharacters + addedCharactersMax(changes)));
    },

    write: written.set,

    remove: (address: RowAddress): void => written.set({ address, item: undefined, text: '', charactersMax: 0 }),

    allOrNone: written.allOrNone,

    end(): void {
      for (const write of written.all.values()) writeRow(rows, write);
      // Expired items are removed after the writes, because a write may extend the life of an item.
      if (written.all.size > 0) removed = nextExpired();
    },

    /** Returns the approximate number of pages of the file that have changed. */
    committed(): number {
      let pages = removed.length * pagesPerRow;
      for (const [id, { address, item, text = '' }] of written.all) {
        const characters = text.length;
        if (item === undefined) hot.delete(id);
        else if (isCached(address)) hot.set(id, { item, characters });
        pages += pagesPerRow + Math.floor(characters / pageBytes);
      }
      for (const address of removed) hot.delete(addressText(address));
      forget();
      return pages;
    },

    failed: forget,
  };
}

/** Throws a TypeError if the item is too large. */
function writeNow(address: RowAddress, item: Item): ItemWrite {
  const text = writeItem(item);
  return { address, item, text, charactersMax: text.length };
}

/** Several calls of a transaction change the items of one account, so the text of the last change is enough. */
const writeLater = (address: RowAddress, item: Item, charactersMax: number): ItemWrite =>
  isSurelySmall(charactersMax) ? { address, item, text: undefined, charactersMax } : writeNow(address, item);

function writeRow(rows: Readonly<Record<TableName, TableRows>>, write: ItemWrite): void {
  const { address, item } = write;
  if (item === undefined) {
    rows[address.table].remove(address);
  } else {
    write.text ??= writeItem(item);
    rows[address.table].write(address, write.text, item);
  }
}

const rowsOf = (database: DatabaseSync) =>
  Object.fromEntries(tableNames.map((table) => [table, createTableRows(database, table)])) as Record<
    TableName,
    TableRows
  >;

/** Holds the writes of one transaction by their address, before they go into the file. */
function createPendingWrites() {
  const all = new Map<string, ItemWrite>();
  /** Writes that `allOrNone` restores if its work throws. */
  let replaced: Map<string, ItemWrite | undefined> | undefined;
  return {
    all: all as ReadonlyMap<string, ItemWrite>,
    get: (id: string): ItemWrite | undefined => all.get(id),
    set(write: ItemWrite): void {
      const id = addressText(write.address);
      if (replaced?.has(id) === false) replaced.set(id, all.get(id));
      all.set(id, write);
    },
    clear: (): void => all.clear(),
    /** Runs `work`, and restores the writes before it if it throws. */
    allOrNone<Value>(work: () => Value): Value {
      const before = new Map<string, ItemWrite | undefined>();
      replaced = before;
      try {
        return work();
      } catch (error) {
        for (const [id, write] of before) {
          if (write === undefined) all.delete(id);
          else all.set(id, write);
        }
        throw error;
      } finally {
        replaced = undefined;
      }
    },
  };
}

/** Removes expired items, one table after the other, so that no transaction is long. */
function createExpiry(rows: Readonly<Record<TableName, TableRows>>, clock: Clock): () => readonly RowAddress[] {
  let looksAtMs = 0;
  return () => {
    const removed: RowAddress[] = [];
    const nowMs = clock.nowMs();
    if (nowMs < looksAtMs) return removed;
    for (const table of tableNames) {
      removed.push(...rows[table].removeExpired(nowMs / 1000, expiredPerTransactionMax - removed.length));
      if (removed.length === expiredPerTransactionMax) return removed;
    }
    looksAtMs = nowMs + expiryLookMs;
    return removed;
  };
}

/**
 * True for items that are cached. Partitions with many items are not cached, because calls append to such a partition
 * and hardly read it, and it would displace items that every call reads.
 */
const isCached = ({ sortKey }: RowAddress): boolean => sortKey === '';

function frozen<Value>(value: Value): Value {
  // Bytes cannot be frozen, and neither can the contents of a set.
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof Set) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

// Caches items as this process last read or wrote them. They equal the items of the file as long as no other process
// has written to it, which SQLite's `data_version` shows.

/**
 * Maximum number of characters of the items' texts, which is enough for some thousand accounts and keys with their
 * reservations.
 */
const charactersMax = 8 * 1024 * 1024;
/** Maximum number of characters of a cached item. A larger item is read again, because it would displace many items. */
const itemMaxCharacters = 64 * 1024;

const addressText = ({ table, key, sortKey }: RowAddress): string => `${table}\0${key}\0${sortKey}`;

interface ReadItem {
  readonly item: Item;
  /** Length of the item's text. */
  readonly characters: number;
}

function createHotItems(database: DatabaseSync, isShared: boolean) {
  const items = createCache<ReadItem>({ sizeMax: charactersMax });
  const versionStatement = database.prepare('PRAGMA data_version');
  let version: unknown;

  return {
    /** Empties the cache if another process wrote. Called before the items are used. */
    check(): void {
      if (!isShared) return;
      const now = versionStatement.get()?.data_version;
      if (now !== version) items.clear();
      version = now;
    },
    get: (address: string): ReadItem | undefined => items.get(address),
    set(address: string, read: ReadItem): void {
      if (read.characters > itemMaxCharacters) items.delete(address);
      else items.set(address, read, { size: read.characters });
    },
    delete: (address: string): void => void items.delete(address),
  };
}
