// The credentials of a provider. One with several is called with each of them as if it were as many providers: each cools and
// is limited on its own.
import type { ProviderAuth, ProviderDocument, SecretReference } from './catalogue-document.ts';

/** A provider as one of its credentials calls it: `auth` is that one. */
export interface CalledProvider extends ProviderDocument {
  /** Position from 1. Absent: the provider has no other. */
  credential?: number | undefined;
}

export function poolOf({ credentials = [], ...provider }: ProviderDocument): readonly CalledProvider[] {
  if (credentials.length < 2) return [provider];
  return credentials.map((reference, index) => ({
    ...provider,
    auth: withReference(provider.auth, reference),
    credential: index + 1,
  }));
}

/** Names a credential in counters and marks. The first has the provider's id, so that a pool continues its counts. */
export const accountOf = ({ id, credential = 1 }: Pick<CalledProvider, 'id' | 'credential'>): string =>
  credential === 1 ? id : `${id}#${credential}`;

/** Place of the secret, as the gateway file names it, if it does. */
export function secretReferenceOf(auth: ProviderAuth): SecretReference | undefined {
  if (auth === 'none' || 'sigv4' in auth) return undefined;
  if ('gcp' in auth) return auth.gcp;
  return 'bearer' in auth ? auth.bearer : auth.header;
}

/** The same form of credential with another secret. */
export function withReference(auth: ProviderAuth, reference: SecretReference): ProviderAuth {
  if (auth === 'none' || 'sigv4' in auth) return auth;
  if ('gcp' in auth) return { gcp: reference };
  return 'bearer' in auth ? { bearer: reference } : { header: { name: auth.header.name, ...reference } };
}
