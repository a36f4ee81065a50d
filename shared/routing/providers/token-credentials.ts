// Provider calls with an access token: `auth: { gcp: … }` of Google Cloud, by the service account that the file refers to,
// `auth: { entra: … }` of Microsoft Entra, by an application and its secret.
import { accountOf, type ProviderAuth } from '../../configuration/catalogue/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Credential, type CredentialSource, TokenUnavailable } from './credential-source.ts';
import { entraTokens } from './entra-tokens.ts';
import type { AccessTokens } from './token-endpoint.ts';

interface TokenCredentialsOptions {
  /** Source for every provider, and for the secrets that tokens are made with. */
  readonly source: CredentialSource;
  readonly clock: Clock;
}

type TokenAuth = Extract<ProviderAuth, { gcp: unknown } | { entra: unknown }>;

const hasToken = (auth: ProviderAuth): auth is TokenAuth => auth !== 'none' && ('gcp' in auth || 'entra' in auth);

interface Account {
  /** The secret and who presents it: another text makes tokens of its own. */
  readonly text: string;
  readonly credential: Credential;
}

export function tokenCredentials({ source, clock }: TokenCredentialsOptions): CredentialSource {
  const accounts = new Map<string, Account>();

  async function open(auth: TokenAuth, secret: string): Promise<AccessTokens> {
    if ('entra' in auth) return entraTokens(auth.entra, secret, clock);
    const { googleTokens } = await import('./google-tokens.ts');
    return googleTokens(secret, clock);
  }

  function tokensOf(auth: TokenAuth, secret: string): Credential {
    let loading: Promise<AccessTokens> | undefined;
    const load = () => {
      loading ??= open(auth, secret);
      return loading;
    };
    return {
      headers: {},
      fetchesToken: true,
      async sign({ headers }) {
        const token = await (await load()).token();
        if (!/^[\x21-\x7e]+$/.test(token)) throw new TokenUnavailable(new Error('the token fits no header'));
        return { ...headers, authorization: `Bearer ${token}` };
      },
    };
  }

  return {
    ...source,
    find(provider) {
      const { auth } = provider;
      if (!hasToken(auth)) return source.find(provider);
      const secret = source.find(provider)?.headers.authorization;
      if (secret === undefined) return undefined;
      const text = JSON.stringify([auth, secret]);
      const known = accounts.get(accountOf(provider));
      if (known?.text === text) return known.credential;
      const credential = tokensOf(auth, secret);
      accounts.set(accountOf(provider), { text, credential });
      return credential;
    },
    async refresh() {
      // A token that was refused is not used again.
      accounts.clear();
      await source.refresh();
    },
  };
}
