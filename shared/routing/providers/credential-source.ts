// Where a provider's credential comes from. The catalogue stores references; the secrets stay in their source.
import type { ProviderAuth, ProviderDocument } from '../../configuration/catalogue/index.ts';

/** A call as it will be sent. */
export interface SignableCall {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What authenticates a provider call. */
export interface Credential {
  /** The header's value; undefined where the provider asks for none, or the call is signed. */
  readonly authorization: string | undefined;
  /** Gives all headers of the call, its signature among them. Rejects where the process has no credentials of AWS. */
  readonly sign?: ((call: SignableCall) => Promise<Record<string, string>>) | undefined;
}

export interface CredentialSource {
  /** Undefined: nothing is configured for this provider. Cheap: planning looks at every candidate. */
  find(provider: ProviderDocument): Credential | undefined;
  /** While the process starts: reads what calls will need. A failure is forgotten. Never rejects. */
  warm(): Promise<void>;
  /** Before a plan: waits where nothing was read yet. Never rejects. */
  ready(): Promise<void>;
  /** When a provider refused our credential: a newer one may be there. Never rejects. */
  refresh(): Promise<void>;
}

/** Reads references from the process environment (`bearer: {env: NAME}`) and knows providers that need nothing. */
export const environmentCredentials = (readVariable: (name: string) => string | undefined): CredentialSource => ({
  find: ({ auth }) => fromEnvironment(auth, readVariable),
  warm: async () => {},
  ready: async () => {},
  refresh: async () => {},
});

function fromEnvironment(
  auth: ProviderAuth,
  readVariable: (name: string) => string | undefined,
): Credential | undefined {
  if (auth === 'none') return { authorization: undefined };
  if (!('bearer' in auth) || !('env' in auth.bearer)) return undefined;
  const secret = readVariable(auth.bearer.env);
  return secret === undefined || secret === '' ? undefined : { authorization: `Bearer ${secret}` };
}
