export {
  type AwsAdapters,
  type AwsAdaptersOptions,
  createAwsAdapters,
  localCredentials,
} from './create-aws-adapters.ts';
export type { ProviderCredentials } from './provider-credentials.ts';
export { type SignedCredentialsOptions, signedCredentials } from './signed-credentials.ts';
