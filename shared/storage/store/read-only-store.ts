// Stores for commands that write nothing. Each store names every operation of the interface, so that a new operation is
// refused until it is added here.
import type { Item } from './item.ts';
import type { Store } from './store.ts';

type Reads = Pick<Store, 'get' | 'scan' | 'query'>;

const readsOf = (store: Reads): Reads => ({
  get: (table, key, options) => store.get(table, key, options),
  scan: (table, options) => store.scan(table, options),
  query: (table, key, options) => store.query(table, key, options),
});

export async function refuseWrite(): Promise<never> {
  throw new Error('the store was opened for reading');
}

/** Refuses every write. */
export const readOnly = (store: Reads): Store => ({
  ...readsOf(store),
  transact: refuseWrite,
  put: refuseWrite,
  update: refuseWrite,
  batchPut: refuseWrite,
  delete: refuseWrite,
});

/** Reports every write as done and makes none: for incidental writes, and for a dry run. */
export const withoutWrites = (store: Reads): Store => ({
  ...readsOf(store),
  put: async ({ item }) => ({ kind: 'written', item }),
  update: async () => ({ kind: 'written', item: undefined }),
  batchPut: async () => {},
  delete: async () => {},
});

async function* nothing(): AsyncGenerator<Item> {}

/** A store for the time before there are any tables. */
export const emptyStore = withoutWrites({ get: async () => undefined, scan: nothing, query: nothing });
