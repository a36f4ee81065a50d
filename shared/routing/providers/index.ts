export * from './candidate-outcome.ts';
export * from './classify.ts';
export {
  type CheckedCredentials,
  type CredentialCheck,
  createCredentialCheck,
  credentialName,
} from './credential-check.ts';
export {
  type Credential,
  type CredentialSource,
  credentialWith,
  environmentCredentials,
  faultOfSecret,
  TokenUnavailable,
} from './credential-source.ts';
export { readRetryDelaySeconds } from './fault-behind-invalid.ts';
export { type ProviderCredentials, providerCredentials } from './provider-credentials.ts';
export { isProviderCredential, providerSecret } from './provider-secret.ts';
export { describeProviderText, readProviderText } from './provider-text.ts';
export { failedResponseCodes } from './rejection-reasons.ts';
export { signedCredentials } from './signed-credentials.ts';
export { type DescribeText, type EventBatch, midStreamCodeOf, readStream } from './stream-reader.ts';
export * from './transport.ts';
export { startWatch, type Watch } from './watch.ts';
