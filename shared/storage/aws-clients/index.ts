export { type AttemptOptions, type CallKind, callWithAttempts, ItemsUnprocessed } from './attempts.ts';
export { type AwsAccess, type AwsCredentialProvider, awsAccess, processCredentials } from './aws-access.ts';
export { awsClientSettings, endpointOnce } from './client-settings.ts';
export { clientSigner } from './client-signer.ts';
export { plainJsonProtocol } from './plain-json-protocol.ts';
export { requestSigner } from './request-signer.ts';
export { secretText } from './secret-text.ts';
