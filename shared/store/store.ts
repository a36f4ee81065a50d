// The only door to DynamoDB. Reads and writes are single calls with their own short limits; what a condition refuses
// is a value, what the store cannot do is a StoreUnavailable.
import type { TableName } from '../names/index.ts';

export type Item = Record<string, unknown>;

export type ConditionalResult =
  | { readonly kind: 'written' /** The item after the write. */; readonly item: Item | undefined }
  | { readonly kind: 'refused' /** The item that stood in the way, if any. */; readonly item: Item | undefined };

/** One conditional write. `#name` and `:value` placeholders are filled from `names` and `values`. */
export interface Update {
  readonly table: TableName;
  readonly key: string;
  readonly expression: string;
  readonly condition?: string;
  readonly names?: Record<string, string>;
  readonly values?: Record<string, unknown>;
}

export interface Put {
  readonly table: TableName;
  readonly item: Item;
  readonly condition?: string;
  readonly names?: Record<string, string>;
  readonly values?: Record<string, unknown>;
}

export interface Store {
  /** Strongly consistent read of one item. Numbers beyond 2^53 come as bigint. */
  get(table: TableName, key: string): Promise<Item | undefined>;
  put(put: Put): Promise<ConditionalResult>;
  update(update: Update): Promise<ConditionalResult>;
  delete(table: TableName, key: string): Promise<void>;
  /** Every item of a table, page by page. For the operator, never on a request's path. */
  scan(table: TableName): AsyncIterable<Item>;
}

/** The store did not answer in time or not at all. Its cause is for the log only. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  constructor(cause: unknown) {
    super('the store is unavailable', { cause });
  }
}
