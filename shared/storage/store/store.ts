// Defines the interface of the store. Reads and writes are single calls with short time limits. A refused condition is
// a value, and an unavailable store a StoreUnavailable.
import type { StageResource, TableName, tableDefinitions } from '../../foundation/constants/index.ts';
import type { Changes } from './changes.ts';
import type { Condition } from './condition.ts';
import type { Item } from './item.ts';

export type ConditionalResult =
  | {
      readonly kind: 'written';
      /**
       * The item after the write. With `returnOld` the item before the write; if there was none, undefined or only the
       * key, depending on the engine.
       */
      readonly item: Item | undefined;
    }
  /** `item` is the item for which the condition was false, if there is one. */
  | { readonly kind: 'refused'; readonly item: Item | undefined };

/** Options of every call. All calls end within `storeCallTimeoutMs`; the signal may end a call earlier. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

type Definitions = typeof tableDefinitions;
/** Tables whose partitions have many items. */
export type SortedTableName = {
  [Name in TableName]: Definitions[Name] extends { readonly sortKey: string } ? Name : never;
}[TableName];

/** Sort key of the item, in a table whose partitions have many items. */
interface GetOptions extends CallOptions {
  readonly sortKey?: string | undefined;
}

/** Bounds of the sort key, both included; `from` is not after `to`. Absent: no bound at that end. */
export interface QueryOptions extends CallOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Attributes to read; all if absent. */
  readonly attributes?: readonly string[] | undefined;
}

/** A condition on the whole item that is under the key. Absent: the write is made in any case. */
interface Conditional {
  readonly condition?: Condition | undefined;
  readonly returnOld?: boolean;
  /**
   * True if a write whose answer was lost may be sent again. This is only for writes that do no harm when they run
   * twice, or whose caller recognizes its own first attempt in the refused item (by an owner id, say). Never for a bare
   * addition.
   */
  readonly repeatable?: boolean;
}

/** Writes a part of an item, under a condition. An absent item is created unless the condition forbids it. */
export interface Update extends Conditional {
  readonly table: TableName;
  readonly key: string;
  readonly changes: Changes;
  /** Makes the answer omit the item, for writers that do not read it. */
  readonly returnsNoItem?: boolean;
}

/** Writes a whole item, key included, under a condition. */
export interface Put extends Conditional {
  readonly table: TableName;
  readonly item: Item;
}

/** An unconditional write of a whole item, key included. */
export type BatchPut = Pick<Put, 'table' | 'item'>;

/** The items as a running transaction sees them, its own writes included. */
export interface TransactionItems {
  get(table: TableName, key: string): Item | undefined;
  put(put: Put): ConditionalResult;
  update(update: Update): ConditionalResult;
}

/**
 * The operations of a store. Undefined fields are not stored. Integers of up to 38 digits are exact, and beyond 2^53
 * they are bigint.
 */
export interface Store {
  /**
   * Runs `work`, which does not wait, within one transaction: all of its writes are made, or none of them if it
   * throws. Absent if the store is not in the process. If it rejects, nothing was written, unless the disk did
   * not confirm a commit.
   */
  readonly transact?: (<Value>(work: (items: TransactionItems) => Value) => Promise<Value>) | undefined;
  /** Reads one item with strong consistency. Numbers beyond 2^53 are returned as bigint. */
  get(table: TableName, key: string, options?: GetOptions): Promise<Item | undefined>;
  put(put: Put, options?: CallOptions): Promise<ConditionalResult>;
  update(update: Update, options?: CallOptions): Promise<ConditionalResult>;
  /**
   * Writes the items in as few requests as possible. The call may be repeated. If it rejects, some of the items may
   * have been written. No two puts have the same key.
   */
  batchPut(puts: readonly BatchPut[], options?: CallOptions): Promise<void>;
  delete(table: TableName, key: string, options?: CallOptions): Promise<void>;
  /** Yields every item of a table, page by page. For the operator, never on a request's path. */
  scan(table: TableName, options?: CallOptions): AsyncIterable<Item>;
  /**
   * Yields the items of one partition by ascending sort key, page by page. For the operator, never on a request's path.
   */
  query(table: SortedTableName, key: string, options?: QueryOptions): AsyncIterable<Item>;
}

/** Thrown when the store did not answer in time or at all. Its cause is for the log only. */
export class StoreUnavailable extends Error {
  /** Compares by name, because a bundle that is loaded on demand has a class of its own. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return error instanceof Error && error.name === 'StoreUnavailable';
  }

  override readonly name = 'StoreUnavailable';
  /** Set if the process did not even call the store. */
  readonly exhausted: StageResource | undefined;

  constructor(cause: unknown, exhausted?: StageResource) {
    super('the store is unavailable', { cause });
    this.exhausted = exhausted;
  }
}

/** True if there was no connection to any address of the host, so that no byte of the request left. */
export function neverConnected(error: unknown): boolean {
  const errors: readonly NodeJS.ErrnoException[] = error instanceof AggregateError ? error.errors : [error];
  return errors.every((each) => each?.syscall === 'connect' || each?.syscall === 'getaddrinfo');
}
