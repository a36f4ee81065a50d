// The store of a test: SQLite in memory, or in a folder that other processes open too.
import { gunzipSync } from 'node:zlib';
import { tableNames } from '../../shared/foundation/constants/index.ts';
import { openSqliteStore } from '../../shared/storage/sqlite-store/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';

export interface TestStore {
  readonly store: Store;
  readonly stage: string;
  /**
   * Returns every item of every table as JSON text, bytes as the text that they contain: a leak test searches it for
   * its canaries.
   */
  dumpTables(): Promise<string>;
  stop(): Promise<void>;
}

/** Time limit of a call; tests of the limit itself set their own, and a busy machine must not fail the others. */
export const patientCallTimeoutMs = 600_000;

export async function startTestStore(folder?: string): Promise<TestStore> {
  const options = { folder, callTimeoutMs: patientCallTimeoutMs, freezesItems: true };
  const { store, close } = await openSqliteStore(options);
  return { store, stage: 'test', dumpTables: () => dumpTables(store), stop: close };
}

export async function dumpTables(store: Store): Promise<string> {
  const tables: Record<string, unknown[]> = {};
  for (const table of tableNames) {
    const items: unknown[] = [];
    for await (const item of store.scan(table)) items.push(item);
    tables[table] = items;
  }
  return JSON.stringify(tables, (_member, value) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Set) return [...value];
    return value instanceof Uint8Array ? readable(value) : value;
  });
}

/** Returns the text of bytes: compressed bytes would hide a canary. */
const readable = (bytes: Uint8Array): string => {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return Buffer.from(isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
};
