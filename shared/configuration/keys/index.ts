export { type ApiKey, createApiKey, parseApiKey } from './api-key.ts';
export { authenticate, type KeyReader, readCredential } from './authenticate.ts';
export { holdersOf, holdsName } from './key-names.ts';
export {
  isKeyExpired,
  type KeyRecord,
  modelsOfKey,
  readKeyRules,
  recordOf as readKeyRecord,
  type WantedKey,
} from './key-record.ts';
export { changedSettings, createKeyStore, isSameKey, type KeyStore } from './key-store.ts';
