export {
  type AttemptFailure,
  agreedParam,
  classifyErrorObject,
  classifyStatus,
  type FailureKind,
  readRetryAfterSeconds,
} from './classify.ts';
export { type Credential, type CredentialSource, environmentCredentials, type SignableCall } from './credentials.ts';
export { midStreamCodeOf } from './mid-stream-codes.ts';
export { type ProviderCredentials, providerCredentials } from './provider-credentials.ts';
export { providerSecret } from './provider-secret.ts';
export { type SignedCredentialsOptions, signedCredentials } from './signed-credentials.ts';
export { readStream, StreamBroken } from './stream-reader.ts';
export {
  createTransport,
  readBoundedBody,
  type Transport,
  type UpstreamAnswer,
  type UpstreamRequest,
} from './transport.ts';
export { toUpstreamBody } from './upstream-body.ts';
export { startWatch, type Watch, type WatchSignals } from './watch.ts';
