// Items as they were last read or written here. They equal the file's as long as no other process has written to it,
// which a number of SQLite's shows.
import type { DatabaseSync } from 'node:sqlite';
import { createCache } from '../../foundation/cache/index.ts';
import type { Item } from '../store/index.ts';
import type { RowAddress } from './table-rows.ts';

/** Characters of their texts: some thousand accounts and keys with their reservations. */
const charactersMax = 8 * 1024 * 1024;
/** A larger one is read again: it would displace many. */
const itemMaxCharacters = 64 * 1024;

export const addressText = ({ table, key, sortKey }: RowAddress): string => `${table}\0${key}\0${sortKey}`;

export function createHotItems(database: DatabaseSync, isShared: boolean) {
  const items = createCache<Item>({ sizeMax: charactersMax });
  const versionStatement = database.prepare('PRAGMA data_version');
  let version: unknown;

  return {
    /** Called before they are used: forgets them where another process wrote. */
    check(): void {
      if (!isShared) return;
      const now = versionStatement.get()?.data_version;
      if (now !== version) items.clear();
      version = now;
    },
    get: (address: string): Item | undefined => items.get(address),
    set(address: string, item: Item, characters: number): void {
      if (characters > itemMaxCharacters) items.delete(address);
      else items.set(address, item, { size: characters });
    },
    delete: (address: string): void => void items.delete(address),
  };
}
