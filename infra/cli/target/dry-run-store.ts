// Stores for commands that write nothing.
import type { Item, Store } from '../../../shared/storage/store/index.ts';

/** Reads are real, every write is answered as done and goes nowhere. */
export const withoutWrites = (store: Pick<Store, 'get' | 'scan' | 'query'>): Store => ({
  get: (table, key, options) => store.get(table, key, options),
  scan: (table, options) => store.scan(table, options),
  query: (table, key, options) => store.query(table, key, options),
  put: async ({ item }) => ({ kind: 'written', item }),
  update: async () => ({ kind: 'written', item: undefined }),
  batchPut: async () => {},
  delete: async () => {},
});

async function* nothing(): AsyncGenerator<Item> {}

/** Before there are any tables. */
export const emptyStore = withoutWrites({ get: async () => undefined, scan: nothing, query: nothing });
