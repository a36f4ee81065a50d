export { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './open-sqlite-store.ts';
export { hasStoreFile, StoreFileRefused } from './store-file.ts';
