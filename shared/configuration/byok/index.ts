export { SealBroken } from './aes-gcm.ts';
export { type BudgetCounter, type BudgetQuote, budgetExceeded, quoteBudget } from './budget.ts';
export type { Connection, ConnectionPolicy } from './connection.ts';
export {
  type ConnectionFacts,
  connectionFacts,
  type PlannedConnection,
  requiresManagedFunding,
} from './connection-facts.ts';
export { type ConnectionReader, type ConnectionReaderOptions, createConnectionReader } from './connection-reader.ts';
export {
  type ConnectionChange,
  type ConnectionStore,
  connectionsPerWorkspaceMax,
  createConnectionStore,
  type WantedConnection,
} from './connection-store.ts';
export { createKeyVault, type KeyVault, type KeyVaultOptions, type SealedKey } from './key-vault.ts';
export type { DataKey, KeyWrapper, SealContext } from './key-wrapper.ts';
export { kmsKeyWrapper } from './kms-key-wrapper.ts';
export { type LocalKeyWrapperOptions, localKeyWrapper } from './local-key-wrapper.ts';
export { type ConnectionInFile, readConnection } from './wanted-connection.ts';
