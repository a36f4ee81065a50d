export { startAdmissionTime } from './admission-time.ts';
export { type BatchDelay, batchRuns, coalesceRuns } from './batch-runs.ts';
export { applyChanges, ChangeImpossible, type Changes, removedBy } from './changes.ts';
export {
  type AttributePath,
  absent,
  and,
  atLeast,
  atMost,
  type Condition,
  contains,
  equals,
  exists,
  holds,
  less,
  not,
  or,
  unchanged,
} from './condition.ts';
export type { Item } from './item.ts';
export { type DocumentWrite, documentIn, writeDocument } from './json-document.ts';
export { emptyStore, readOnly, refuseWrite, withoutWrites } from './read-only-store.ts';
export { retryWrite, writeOptimistically } from './retry-write.ts';
export {
  type BatchPut,
  type CallOptions,
  type ConditionalResult,
  neverConnected,
  type Put,
  type QueryOptions,
  type SortedTableName,
  type Store,
  StoreUnavailable,
  type TransactionItems,
  type Update,
} from './store.ts';
export { openTransaction, type StoreTransaction } from './transaction.ts';
export { WriteRefused } from './write-refused.ts';
