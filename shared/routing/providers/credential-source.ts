// Sources of provider credentials. The catalogue stores references; the secrets stay in their source.
import {
  type CalledProvider,
  type ProviderAuth,
  type SecretReference,
  secretReferenceOf,
} from '../../configuration/catalogue/index.ts';
import type { OutgoingBody } from '../../foundation/outgoing/index.ts';

/** A call as it will be sent. */
interface SignableCall {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: OutgoingBody;
  readonly method?: string | undefined;
}

/** Authentication of a provider call. */
export interface Credential {
  /** Headers, with names in lower case. Empty if the provider requires no credential, or the call is signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Returns all headers of the call, including its signature. Rejects if the process has no AWS credentials. */
  readonly sign?: ((call: SignableCall) => Promise<Record<string, string>>) | undefined;
  /** True if signing calls the provider's own token endpoint, within a limit of its own. */
  readonly fetchesToken?: boolean | undefined;
}

/**
 * Thrown when a token for a provider's calls could not be fetched, which is a failure of that provider. The cause
 * contains no secret.
 */
export class TokenUnavailable extends Error {
  override readonly name = 'TokenUnavailable';
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'no token', { cause });
  }
}

export interface CredentialSource {
  /**
   * Finds the credential; undefined when nothing is configured for this provider. It is cheap, because planning calls
   * it for every candidate.
   */
  find(provider: CalledProvider): Credential | undefined;
  /** Returns a secret that does not belong to a provider, if it is set. Throws as `find` does. */
  secretOf(reference: SecretReference): string | undefined;
  /**
   * Returns why nothing is found, if the source knows more than that nothing is set. The reason consists of words that
   * follow the name of the secret.
   */
  faultOf?(provider: CalledProvider): string | undefined;
  /** Reads the credentials for coming calls while the process starts. A failure is dropped. Never rejects. */
  warm(): Promise<void>;
  /** Called before a plan. Waits if nothing was read yet, otherwise returns undefined. Never rejects. */
  ready(): Promise<void> | undefined;
  /**
   * Called when a provider refused the gateway's credential, because there may be a newer credential. Never rejects.
   */
  refresh(): Promise<void>;
}

/**
 * Returns the credential for a stored secret. For a service account the credential is the whole text; for an
 * application it is the secret with which tokens are requested; otherwise it is the key as it is sent.
 */
export function storedCredential(auth: ProviderAuth, secret: string): Credential | undefined {
  if (auth !== 'none' && 'gcp' in auth) return { headers: { authorization: secret } };
  if (!headerValue.test(secret)) return undefined;
  return auth !== 'none' && 'entra' in auth ? { headers: { authorization: secret } } : credentialWith(auth, secret);
}
/** Matches a value that is not JSON, because a private key must be sent nowhere. */
const headerValue = /^(?!\s*\{)[\x20-\x7e]+$/;

/** Returns the fault of a secret that is set, in words that follow its name; undefined when it can be sent. */
export function faultOfSecret(auth: ProviderAuth, secret: string | undefined): string | undefined {
  if (secret === undefined || secret === '') return 'is not set';
  if (storedCredential(auth, secret) !== undefined) return undefined;
  if (/[\r\n]/.test(secret) && headerValue.test(secret.replace(/[\r\n]/g, ''))) return 'has a line end';
  return 'is no key: it has characters that no header can carry, or is JSON';
}

/**
 * Returns the credential for a client's key. The key is sent where the provider expects its own key. A signed provider,
 * or a provider without a key, gets the client's key as a bearer token.
 */
export const credentialWith = (auth: ProviderAuth, key: string): Credential =>
  auth !== 'none' && 'header' in auth
    ? { headers: { [auth.header.name]: key } }
    : { headers: { authorization: `Bearer ${key}` } };

export const noCredential: Credential = { headers: {} };

/** Reads references from the process environment (`{env: NAME}`) and handles providers that need no credential. */
export const environmentCredentials = (readVariable: (name: string) => string | undefined): CredentialSource => ({
  find: ({ auth }) => fromEnvironment(auth, readVariable),
  secretOf: (reference) => ('env' in reference ? readVariable(reference.env) : undefined),
  faultOf({ auth }) {
    const reference = secretReferenceOf(auth);
    return reference && 'env' in reference ? faultOfSecret(auth, readVariable(reference.env)) : undefined;
  },
  warm: async () => {},
  ready: () => undefined,
  refresh: async () => {},
});

function fromEnvironment(
  auth: ProviderAuth,
  readVariable: (name: string) => string | undefined,
): Credential | undefined {
  if (auth === 'none') return noCredential;
  const reference = secretReferenceOf(auth);
  if (reference === undefined || !('env' in reference)) return undefined;
  const secret = readVariable(reference.env);
  return secret === undefined || secret === '' ? undefined : storedCredential(auth, secret);
}
