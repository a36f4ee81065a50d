export { type AttemptOptions, callWithAttempts, neverConnected } from './attempts.ts';
export { createDynamoClient, type DynamoClient, type DynamoClientOptions } from './dynamodb-client.ts';
export { createDynamoStore, type DynamoStoreOptions } from './dynamodb-store.ts';
export { type RetryWriteOptions, retryWrite } from './retry-write.ts';
export { shareRuns } from './share-runs.ts';
export {
  type BatchPut,
  type CallOptions,
  type Conditional,
  type ConditionalResult,
  type Item,
  type Put,
  type QueryOptions,
  type SortedTableName,
  type Store,
  StoreUnavailable,
  type Update,
} from './store.ts';
