export { type ApiKey, createApiKey, parseApiKey } from './api-key.ts';
export { authenticate, type KeyReader, readCredential } from './authenticate.ts';
export type { KeyRecord } from './key-record.ts';
export { createKeyStore, isSameKey, type KeyStore, type KeyWrite, type WantedKey } from './key-store.ts';
