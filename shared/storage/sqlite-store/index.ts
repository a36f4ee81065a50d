export { openSqliteStore } from './open-sqlite-store.ts';
export { hasStoreFile, StoreFileRefused } from './store-file.ts';
