// Reads and writes the rows of one table. Each row has an item as JSON text, with its keys and its expiry in separate
// columns.
import type { DatabaseSync } from 'node:sqlite';
import { type TableDefinition, type TableName, tableDefinitions } from '../../foundation/constants/index.ts';
import type { Item } from '../store/index.ts';

/** Address of an item. */
export interface RowAddress {
  readonly table: TableName;
  readonly key: string;
  /** Sort key; '' in a table whose partitions have one item. */
  readonly sortKey: string;
}

export interface Row {
  readonly pk: string;
  readonly sk?: string;
  readonly item: string;
}

/** Returns the address of an item that is put. Throws a TypeError if a key is missing. */
export function addressOf(table: TableName, item: Item): RowAddress {
  const { partitionKey, sortKey }: TableDefinition = tableDefinitions[table];
  return checkedAddress(table, item[partitionKey], sortKey === undefined ? undefined : item[sortKey]);
}

/** Returns the address. Throws a TypeError if a key is missing. */
export function checkedAddress(table: TableName, key: unknown, sortKey: unknown): RowAddress {
  const { sortKey: isSorted }: TableDefinition = tableDefinitions[table];
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  if (!isText(key)) throw new TypeError(`a key of ${table} is a text`);
  if (isSorted === undefined) return { table, key, sortKey: '' };
  if (!isText(sortKey)) throw new TypeError(`a sort key of ${table} is a text`);
  return { table, key, sortKey };
}

export type TableRows = ReturnType<typeof createTableRows>;

/** Opens the rows. Statements are prepared on first use, because most processes use few. */
export function createTableRows(database: DatabaseSync, table: TableName) {
  const { sortKey, timeToLiveAttribute }: TableDefinition = tableDefinitions[table];
  const isSorted = sortKey !== undefined;
  const prepared = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const statement = (sql: string) => {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  const columns = isSorted ? 'pk, sk' : 'pk';
  const isThis = isSorted ? 'pk = ? AND sk = ?' : 'pk = ?';
  const keysOf = ({ key, sortKey }: RowAddress): string[] => (isSorted ? [key, sortKey] : [key]);
  const read = `SELECT item FROM "${table}" WHERE ${isThis}`;
  const write = `INSERT INTO "${table}" (${columns}, item, expires) VALUES (${isSorted ? '?, ?' : '?'}, ?, ?)
    ON CONFLICT (${columns}) DO UPDATE SET item = excluded.item, expires = excluded.expires`;
  const remove = `DELETE FROM "${table}" WHERE ${isThis}`;
  // The oldest rows are removed first, so that a stream of newer rows cannot keep an old row forever.
  const removeExpired = `DELETE FROM "${table}" WHERE rowid IN
    (SELECT rowid FROM "${table}" WHERE expires <= ? ORDER BY expires LIMIT ?) RETURNING ${columns}`;
  const scan = isSorted
    ? `SELECT pk, sk, item FROM "${table}" WHERE (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ?`
    : `SELECT pk, item FROM "${table}" WHERE pk > ? ORDER BY pk LIMIT ?`;
  const query = (isFirst: boolean) =>
    `SELECT pk, sk, item FROM "${table}" WHERE pk = ? AND sk ${isFirst ? '>=' : '>'} ? AND sk <= ? ORDER BY sk LIMIT ?`;

  return {
    read: (address: RowAddress): string | undefined =>
      statement(read).get(...keysOf(address))?.item as string | undefined,

    write(address: RowAddress, text: string, item: Item): void {
      const expires = timeToLiveAttribute === undefined ? undefined : item[timeToLiveAttribute];
      statement(write).run(...keysOf(address), text, typeof expires === 'number' ? expires : null);
    },

    remove: (address: RowAddress): void => void statement(remove).run(...keysOf(address)),

    /** Removes rows that expired before `nowSeconds`, `count` at most. Returns their addresses. */
    removeExpired(nowSeconds: number, count: number): RowAddress[] {
      if (timeToLiveAttribute === undefined) return [];
      const rows = statement(removeExpired).all(nowSeconds, count) as unknown as Row[];
      return rows.map(({ pk, sk = '' }) => ({ table, key: pk, sortKey: sk }));
    },

    scan: (after: Row | undefined, count: number): Iterable<Row> => {
      const from = isSorted ? [after?.pk ?? '', after?.sk ?? ''] : [after?.pk ?? ''];
      return statement(scan).iterate(...from, count) as unknown as Iterable<Row>;
    },

    query: (
      key: string,
      range: { from?: string | undefined; to?: string | undefined },
      after: Row | undefined,
      count: number,
    ): Iterable<Row> => {
      // Bytes sort after every text.
      const to = range.to ?? new Uint8Array();
      const from = after?.sk ?? range.from ?? '';
      return statement(query(after === undefined)).iterate(key, from, to, count) as unknown as Iterable<Row>;
    },
  };
}
