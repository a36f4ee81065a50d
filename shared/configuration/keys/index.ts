export { type ApiKey, createApiKey, newApiKey, parseApiKey } from './api-key.ts';
export { authenticate, type KeyReader, readCredential, refuseEndedKey, refuseKey } from './authenticate.ts';
export { contentLogFault, effectiveContentLog } from './content-log.ts';
export { holdersOf, takesName } from './key-names.ts';
export { isKeyExpired, type KeyRecord, modelsOfKey, recordOf as readKeyRecord, type WantedKey } from './key-record.ts';
export { keyChanges, keyName, keySchema, type WrittenKey } from './key-schema.ts';
export {
  fromWrittenKey,
  initialKey,
  type KeySettings,
  readKeySetting,
  writtenKey,
} from './key-settings.ts';
export { changedSettings, createKeyStore, isSameKey, type KeyStore, type KeyWrite } from './key-store.ts';
export { authenticateOperator, createOperatorStore, type OperatorRecord, type OperatorStore } from './operator-keys.ts';
