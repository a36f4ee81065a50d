export { type ApiKey, createApiKey, parseApiKey } from './api-key.ts';
export { authenticate, type KeyReader, readCredential } from './authenticate.ts';
export {
  isKeyExpired,
  type KeyRecord,
  type KeyRules,
  readKeyRules,
  type SpendLimitReset,
  type WantedKey,
} from './key-record.ts';
export { changedSettings, createKeyStore, isSameKey, type KeyStore, type KeyWrite } from './key-store.ts';
