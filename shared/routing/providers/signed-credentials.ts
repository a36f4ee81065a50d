// Providers whose calls are signed one by one. `auth: { sigv4: … }`: with the credentials of the process itself, a function's
// role for instance, so that a model of Amazon Bedrock answers without any stored secret. `auth: { gcp: … }` and `auth: { entra: … }`: with tokens.
import type { Clock } from '../../foundation/time/index.ts';
import { type AwsCredentialProvider, requestSigner } from '../../storage/aws-clients/index.ts';
import type { Credential, CredentialSource } from './credential-source.ts';
import { tokenCredentials } from './token-credentials.ts';

interface SignedCredentialsOptions {
  /** Source for every provider that is not signed. */
  readonly source: CredentialSource;
  readonly awsCredentials: AwsCredentialProvider;
  /** Whether the process has AWS credentials: else such a provider is not configured. */
  readonly isAvailable: () => boolean;
  readonly clock: Clock;
}

export function signedCredentials(options: SignedCredentialsOptions): CredentialSource {
  const { awsCredentials, isAvailable, clock } = options;
  const source = tokenCredentials({ source: options.source, clock });
  const known = new Map<string, Credential>();

  const signing = (service: string, region: string): Credential => ({
    headers: {},
    sign: requestSigner({ service, region, credentials: awsCredentials, clock }),
  });

  return {
    ...source,
    find(provider) {
      const { auth } = provider;
      if (auth === 'none' || !('sigv4' in auth)) return source.find(provider);
      if (!isAvailable()) return undefined;
      const { service, region } = auth.sigv4;
      const name = `${service} ${region}`;
      const credential = known.get(name) ?? signing(service, region);
      known.set(name, credential);
      return credential;
    },
  };
}
