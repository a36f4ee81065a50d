// `auth: { gcp: … }`: provider calls with a token of Google Cloud, made with the service account that the file refers to.
import { accountOf } from '../../configuration/catalogue/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Credential, type CredentialSource, TokenUnavailable } from './credential-source.ts';
import type { GoogleTokens } from './google-tokens.ts';

export interface GoogleCredentialsOptions {
  /** Source for every provider, and for the text of the service account. */
  readonly source: CredentialSource;
  readonly clock: Clock;
}

interface Account {
  /** The account's JSON: another text makes tokens of its own. */
  readonly text: string;
  readonly credential: Credential;
}

export function googleCredentials({ source, clock }: GoogleCredentialsOptions): CredentialSource {
  const accounts = new Map<string, Account>();

  function tokensOf(text: string): Credential {
    let loading: Promise<GoogleTokens> | undefined;
    const load = () => {
      loading ??= import('./google-tokens.ts').then(({ googleTokens }) => googleTokens(text, clock));
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
      if (auth === 'none' || !('gcp' in auth)) return source.find(provider);
      const text = source.find(provider)?.headers.authorization;
      if (text === undefined) return undefined;
      const known = accounts.get(accountOf(provider));
      if (known?.text === text) return known.credential;
      const credential = tokensOf(text);
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
