// A store for trying out what would be written: reads are real, every write is answered as done and goes nowhere.
// Conditions are not looked at: what decides on a write here is what was read before it.
import type { Item, Store } from '../../storage/store/index.ts';

export function rehearsalStore(store: Pick<Store, 'get' | 'scan' | 'query'>): Store {
  return {
    get: (table, key, options) => store.get(table, key, options),
    scan: (table, options) => store.scan(table, options),
    query: (table, key, options) => store.query(table, key, options),
    put: async ({ item }) => ({ kind: 'written', item }),
    update: async () => ({ kind: 'written', item: undefined }),
    batchPut: async () => {},
    delete: async () => {},
  };
}

async function* nothing(): AsyncGenerator<Item> {}

/** Before there are any tables. */
export const emptyStore: Pick<Store, 'get' | 'scan' | 'query'> = {
  get: async () => undefined,
  scan: nothing,
  query: nothing,
};
