// A store with a function around each of its calls: to watch them, to fail them, or to lose their answers.
import type { Changes, Store } from '../../shared/storage/store/index.ts';

export interface StoreCall {
  readonly method: 'get' | 'put' | 'update' | 'batchPut' | 'delete';
  readonly table: string;
  readonly key: string;
  /** Changes of an update; {} for other calls. */
  readonly changes: Changes;
}

export type Around = <Value>(call: StoreCall, run: () => Promise<Value>) => Promise<Value>;

/** Wraps calls except scans and queries, which only the operator makes. */
export const aroundStore = (store: Store, around: Around): Store => ({
  // Transactions are excluded: each call may be delayed by itself.
  get: (table, key, options) =>
    around({ method: 'get', table, key, changes: {} }, () => store.get(table, key, options)),
  put: (put, options) =>
    around({ method: 'put', table: put.table, key: String(put.item.pk), changes: {} }, () => store.put(put, options)),
  update: (update, options) => {
    const { table, key, changes } = update;
    return around({ method: 'update', table, key, changes }, () => store.update(update, options));
  },
  batchPut: (puts, options) =>
    around(
      {
        method: 'batchPut',
        table: [...new Set(puts.map(({ table }) => table))].join(),
        key: puts.map(({ item }) => item.pk).join(),
        changes: {},
      },
      () => store.batchPut(puts, options),
    ),
  delete: (table, key, options) =>
    around({ method: 'delete', table, key, changes: {} }, () => store.delete(table, key, options)),
  scan: store.scan.bind(store),
  query: store.query.bind(store),
});
