// `auth: { sigv4: … }`: provider calls signed with the credentials of the process itself, a function's role for instance.
// A model of Amazon Bedrock then answers without any stored secret.

import type { Clock } from '../../foundation/time/index.ts';
import { createSigner, type Identity } from '../../storage/aws-calls/index.ts';
import type { Credential, CredentialSource } from './credentials.ts';

export interface SignedCredentialsOptions {
  /** For every provider that is not signed. */
  readonly source: CredentialSource;
  readonly identity: Identity;
  /** Whether there is anybody to sign for: else such a provider is not configured. */
  readonly isAvailable: () => boolean;
  readonly clock: Clock;
}

export function signedCredentials(options: SignedCredentialsOptions): CredentialSource {
  const { source, identity, isAvailable, clock } = options;
  const signed = new Map<string, Credential>();
  const signing = (service: string, region: string): Credential => {
    const sign = createSigner({ service, region, identity, clock });
    return { authorization: undefined, sign: (call) => sign({ method: 'POST', ...call }) };
  };
  return {
    ...source,
    find(provider) {
      const { auth } = provider;
      if (auth === 'none' || !('sigv4' in auth)) return source.find(provider);
      if (!isAvailable()) return undefined;
      const { service, region } = auth.sigv4;
      const name = `${service} ${region}`;
      const known = signed.get(name) ?? signing(service, region);
      signed.set(name, known);
      return known;
    },
  };
}
