export { type ApiKey, createApiKey, newApiKey, parseApiKey } from './api-key.ts';
export { authenticate, type KeyReader, readCredential } from './authenticate.ts';
export { holdersOf, holdsName, type NamedKey } from './key-names.ts';
export {
  isKeyExpired,
  type KeyRecord,
  type KeySettings,
  modelsOfKey,
  readKeyRules,
  recordOf as readKeyRecord,
  spendLimitResets,
  type WantedKey,
} from './key-record.ts';
export { changedSettings, createKeyStore, isSameKey, type KeyStore, type KeyWrite } from './key-store.ts';
