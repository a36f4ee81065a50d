export { SealBroken } from './aes-gcm.ts';
export { budgetExceeded, quoteBudget } from './budget.ts';
export type { Connection } from './connection.ts';
export {
  type ConnectionList,
  type ConnectionReader,
  createConnectionList,
  createConnectionReader,
} from './connection-list.ts';
export {
  type ConnectionChange,
  type ConnectionStore,
  connectionsPerWorkspaceMax,
  createConnectionStore,
} from './connection-store.ts';
export { closedVault, createKeyVault } from './key-vault.ts';
export type { KeyWrapper } from './key-wrapper.ts';
export { kmsKeyWrapper } from './kms-key-wrapper.ts';
export { localKeyWrapper, masterKeyFile } from './local-key-wrapper.ts';
export { type ConnectionInFile, readConnection } from './wanted-connection.ts';
export { type PlannedConnection, requiresManagedFunding, workspaceConnections } from './workspace-connections.ts';
