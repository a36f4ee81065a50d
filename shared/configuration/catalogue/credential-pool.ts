// Splits a provider with several credentials into one provider for each credential. Each credential cools down and is
// limited separately.
import type { ProviderAuth, ProviderDocument, SecretReference } from './catalogue-document.ts';

/** A provider with one of its credentials, which is in `auth`. */
export interface CalledProvider extends ProviderDocument {
  /** Position of the credential, counted from 1. Absent if the provider has only one. */
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

type Account = Pick<CalledProvider, 'id' | 'credential' | 'auth'>;

/**
 * Returns the name of a credential in counters and marks. If a provider has several credentials, this is the name of
 * the secret, so that the credential keeps its counters and marks wherever the file lists it.
 */
export const accountOf = (provider: Account): string =>
  provider.credential === undefined ? provider.id : withSecretName(provider);

/** True if the name, which was made when the provider had more or fewer credentials, means this account. */
export const isAccount = (provider: Account, name: string | undefined): boolean =>
  name === (provider.credential === 1 ? provider.id : accountOf(provider)) || name === withSecretName(provider);

function withSecretName({ id, auth }: Account): string {
  const reference = secretReferenceOf(auth);
  if (reference === undefined) return id;
  return `${id}#${'env' in reference ? reference.env : `secret:${reference.secret}`}`;
}

/** Returns the place of the secret, as the gateway file names it; undefined if the file names no place. */
export function secretReferenceOf(auth: ProviderAuth): SecretReference | undefined {
  if (auth === 'none' || 'sigv4' in auth) return undefined;
  if ('gcp' in auth) return auth.gcp;
  if ('entra' in auth) return auth.entra.client_secret;
  return 'bearer' in auth ? auth.bearer : auth.header;
}

/** Returns the same authentication with another secret. */
export function withReference(auth: ProviderAuth, reference: SecretReference): ProviderAuth {
  if (auth === 'none' || 'sigv4' in auth) return auth;
  if ('gcp' in auth) return { gcp: reference };
  if ('entra' in auth) return { entra: { ...auth.entra, client_secret: reference } };
  return 'bearer' in auth ? { bearer: reference } : { header: { name: auth.header.name, ...reference } };
}
