// `auth: { sigv4: … }`: provider calls signed with the credentials of the process itself, a function's role for instance.
// A model of Amazon Bedrock then answers without any stored secret.
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../foundation/time/index.ts';
import type { AwsCredentialProvider } from '../../storage/aws-clients/index.ts';
import type { Credential, CredentialSource, SignableCall } from './credential-source.ts';

export interface SignedCredentialsOptions {
  /** For every provider that is not signed. */
  readonly source: CredentialSource;
  readonly awsCredentials: AwsCredentialProvider;
  /** Whether the process has credentials of AWS: else such a provider is not configured. */
  readonly isAvailable: () => boolean;
  readonly clock: Clock;
}

export function signedCredentials(options: SignedCredentialsOptions): CredentialSource {
  const { source, awsCredentials, isAvailable, clock } = options;
  const known = new Map<string, Credential>();

  function signing(service: string, region: string): Credential {
    const signer = new SignatureV4({ service, region, credentials: awsCredentials, sha256: Sha256 });
    return {
      headers: {},
      async sign(call) {
        const { headers } = await signer.sign(toSign(call), { signingDate: new Date(clock.nowMs()) });
        return headers;
      },
    };
  }

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

const toSign = ({ url, headers, body }: SignableCall) => ({
  method: 'POST',
  protocol: url.protocol,
  hostname: url.hostname,
  path: url.pathname,
  query: queryOf(url),
  headers: { ...headers, host: url.host },
  body,
});

const queryOf = ({ searchParams }: URL): Record<string, string[]> =>
  Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]));
