// Implements the store's interface on the items of one file: reads run at once, and the writes of a turn in one
// transaction. Calls reject with StoreUnavailable, whatever the reason: a locked file, a full disk, an item or a change
// that DynamoDB would refuse too.
import { type TableDefinition, tableDefinitions } from '../../foundation/constants/index.ts';
import { atTurnEnd } from '../../foundation/time/index.ts';
import {
  applyChanges,
  type BatchPut,
  type CallOptions,
  type Changes,
  type ConditionalResult,
  holds,
  type Item,
  type Put,
  type Store,
  StoreUnavailable,
  type TransactionItems,
  type Update,
} from '../store/index.ts';
import { type BusyWait, whileBusy } from './busy.ts';
import type { Items } from './items.ts';
import { readItem, toStored, toStoredMap } from './stored-item.ts';
import { addressOf, checkedAddress, type Row } from './table-rows.ts';
import type { Transactions } from './transactions.ts';

/** Maximum number of items of a page of a scan or a query, which is read in one turn of the event loop. */
const pageItemsMax = 100;
const pageCharactersMax = 1024 * 1024;
/** Maximum number of items of a batch in one transaction. */
const batchItemsMax = 100;
/** Weight of one call of `transact`: a call's key, credit, connection budget and record. */
const transactionItems = 4;

interface SqliteStoreParts {
  readonly items: Items;
  readonly transactions: Transactions;
  readonly wait: BusyWait;
  /** Returns an error with a text for the operator in place of SQLite's error. */
  readonly describe: (error: unknown) => unknown;
}

export function createSqliteStore({ items, transactions, wait, describe }: SqliteStoreParts): Store {
  const toError = (error: unknown) => new StoreUnavailable(describe(error));
  const unavailable = (error: unknown) => Promise.reject(toError(error));

  function orUnavailable<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return call().catch(unavailable);
    } catch (error) {
      return unavailable(error);
    }
  }

  const read = <Value>(options: CallOptions, attempt: () => Value): Promise<Value> =>
    orUnavailable(() => {
      options.signal?.throwIfAborted();
      return whileBusy({ ...wait, signal: options.signal }, attempt);
    });

  /** Queues a write. `prepare` runs before the transaction, and returns the work inside it. */
  function write<Value>({ signal }: CallOptions, weight: number, prepare: () => () => Value): Promise<Value> {
    try {
      return transactions.ask({ weight, run: prepare(), signal, toError });
    } catch (error) {
      return unavailable(error);
    }
  }

  async function* pages(options: CallOptions, open: (after: Row | undefined) => Iterable<Row>): AsyncGenerator<Item> {
    for (let after: Row | undefined; ; ) {
      const { rows, isLast } = await read(options, () => pageOf(open(after)));
      for (const { item } of rows) yield items.snapshotOf(readItem(item));
      if (isLast) return;
      after = rows.at(-1);
      await new Promise<void>(atTurnEnd);
    }
  }

  return {
    transact: (work) => {
      const inTransaction: TransactionItems = {
        get: (table, key) => items.read(checkedAddress(table, key, undefined)),
        put: (put) => preparePut(items, put)(),
        update: (update) => prepareUpdate(items, update)(),
      };
      return write({}, transactionItems, () => () => items.allOrNone(() => work(inTransaction)));
    },

    get: (table, key, options = {}) => read(options, () => items.readNow(checkedAddress(table, key, options.sortKey))),

    put: (put, options = {}) => write(options, 1, () => preparePut(items, put)),

    update: (update, options = {}) => write(options, 1, () => prepareUpdate(items, update)),

    batchPut: async (puts, options = {}) => {
      const parts = Array.from({ length: Math.ceil(puts.length / batchItemsMax) }, (_, part) =>
        puts.slice(part * batchItemsMax, (part + 1) * batchItemsMax),
      );
      await Promise.all(parts.map((part) => write(options, part.length, () => prepareBatch(items, part))));
    },

    delete: (table, key, options = {}) =>
      write(options, 1, () => {
        const address = checkedAddress(table, key, undefined);
        return () => items.remove(address);
      }),

    scan: (table, options = {}) => pages(options, (after) => items.rows[table].scan(after, pageItemsMax)),

    async *query(table, key, { from, to, attributes, ...options } = {}) {
      const range = { from, to };
      for await (const item of pages(options, (after) => items.rows[table].query(key, range, after, pageItemsMax)))
        yield attributes === undefined || attributes.length === 0 ? item : picked(item, attributes);
    },
  };
}

function preparePut(items: Items, { table, item, condition, returnOld = false }: Put): () => ConditionalResult {
  const storedMap = toStoredMap(item);
  const address = addressOf(table, storedMap);
  const write = items.writeOf(address, storedMap);
  return () => {
    const before = condition === undefined && !returnOld ? undefined : items.read(address);
    if (condition !== undefined && !holds(condition, before)) return { kind: 'refused', item: before };
    items.write(write);
    return { kind: 'written', item: returnOld ? before : storedMap };
  };
}

function prepareUpdate(items: Items, update: Update): () => ConditionalResult {
  const { table, key, changes, condition, returnOld = false, returnsNoItem = false } = update;
  const address = checkedAddress(table, key, undefined);
  const storedUpdate = storedChanges(changes);
  const { partitionKey }: TableDefinition = tableDefinitions[table];
  return () => {
    const before = items.read(address);
    if (condition !== undefined && !holds(condition, before)) return { kind: 'refused', item: before };
    const after = applyChanges(before ?? { [partitionKey]: key }, storedUpdate);
    // A sum may have more digits than its parts.
    for (const attribute in changes.add) toStored(after[attribute]);
    items.change(address, after, storedUpdate);
    return { kind: 'written', item: returnsNoItem ? undefined : returnOld ? before : after };
  };
}

/** Copies the changes, so that no object of the caller becomes a part of the item. */
function storedChanges(changes: Changes): Changes {
  const { set, setIfAbsent } = changes;
  if (set === undefined && setIfAbsent === undefined) return changes;
  return { ...changes, set: toStoredMap(set ?? {}), setIfAbsent: toStoredMap(setIfAbsent ?? {}) };
}

function prepareBatch(items: Items, puts: readonly BatchPut[]): () => void {
  const writes = puts.map(({ table, item }) => {
    const storedMap = toStoredMap(item);
    return items.writeOf(addressOf(table, storedMap), storedMap);
  });
  return () => {
    for (const write of writes) items.write(write);
  };
}

function pageOf(rows: Iterable<Row>): { readonly rows: readonly Row[]; readonly isLast: boolean } {
  const page: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    page.push(row);
    characters += row.item.length;
    if (characters >= pageCharactersMax) return { rows: page, isLast: false };
  }
  return { rows: page, isLast: page.length < pageItemsMax };
}

const picked = (item: Item, attributes: readonly string[]): Item =>
  Object.fromEntries(attributes.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name]]] : [])));
