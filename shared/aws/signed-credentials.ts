// `auth: { sigv4: … }`: provider calls signed with the credentials of the process itself, a function's role for instance.
// A model of Amazon Bedrock then answers without any stored secret.
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { AwsCredentials } from '../config/index.ts';
import type { Credential, CredentialSource, SignableCall } from '../providers/index.ts';
import type { Clock } from '../time/index.ts';
import { signingIdentity } from './aws-service.ts';

export interface SignedCredentialsOptions {
  /** For every provider that is not signed. */
  readonly source: CredentialSource;
  /** Asked for each signature. Rejects where there are none. */
  readonly identity: () => Promise<AwsCredentials>;
  /** Whether there is anybody to sign for: else such a provider is not configured. */
  readonly isAvailable: () => boolean;
  readonly clock: Clock;
}

export function signedCredentials(options: SignedCredentialsOptions): CredentialSource {
  const { source, isAvailable } = options;
  const signed = new Map<string, Credential>();
  return {
    ...source,
    find(provider) {
      const { auth } = provider;
      if (auth === 'none' || !('sigv4' in auth)) return source.find(provider);
      if (!isAvailable()) return undefined;
      const { service, region } = auth.sigv4;
      const name = `${service} ${region}`;
      const known = signed.get(name) ?? { authorization: undefined, sign: createSigner(options, service, region) };
      signed.set(name, known);
      return known;
    },
  };
}

function createSigner({ identity, clock }: SignedCredentialsOptions, service: string, region: string) {
  const signer = new SignatureV4({ service, region, credentials: signingIdentity(identity), sha256: Sha256 });
  return async ({ url, headers, body }: SignableCall): Promise<Record<string, string>> => {
    const request = {
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: {},
      headers: { ...headers, host: url.host },
      body,
    };
    const { headers: all } = await signer.sign(request, { signingDate: new Date(clock.nowMs()) });
    return { ...all };
  };
}
