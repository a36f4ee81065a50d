// Providers whose calls are signed separately. `auth: { sigv4: … }`: with the credentials of the process itself, a
// function's role for instance, so that a model of Amazon Bedrock answers without any stored secret. `auth: { gcp: … }`
// and `auth: { entra: … }`: with tokens.

import { accountOf, type EntraClient, type ProviderAuth } from '../../configuration/catalogue/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { toCount } from '../../protocol/wire/index.ts';
import { type AwsCredentialProvider, requestSigner } from '../../storage/aws-clients/index.ts';
import { type Credential, type CredentialSource, TokenUnavailable } from './credential-source.ts';
import { type AccessTokens, tokenEndpoint } from './token-endpoint.ts';

interface SignedCredentialsOptions {
  /** Source for every provider that is not signed. */
  readonly source: CredentialSource;
  readonly awsCredentials: AwsCredentialProvider;
  /** Returns true if the process has AWS credentials; otherwise such a provider is not configured. */
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

// Provider calls with an access token: `auth: { gcp: … }` of Google Cloud, by the service account to which the file
// refers, and `auth: { entra: … }` of Microsoft Entra, by an application and its secret.

interface TokenCredentialsOptions {
  /** Source for every provider, and for the secrets with which tokens are requested. */
  readonly source: CredentialSource;
  readonly clock: Clock;
}

type TokenAuth = Extract<ProviderAuth, { gcp: unknown } | { entra: unknown }>;

const hasToken = (auth: ProviderAuth): auth is TokenAuth => auth !== 'none' && ('gcp' in auth || 'entra' in auth);

interface Account {
  /** The secret and its application: another text gets tokens of its own. */
  readonly text: string;
  readonly credential: Credential;
}

function tokenCredentials({ source, clock }: TokenCredentialsOptions): CredentialSource {
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

// Access tokens of Microsoft Entra for an application with a secret
// (learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, November 2026). It is one form to one
// endpoint, whereas Microsoft's library for it has a megabyte.

const publicAuthority = 'https://login.microsoftonline.com';
const aiServices = 'https://cognitiveservices.azure.com/.default';
/** Time before its expiry at which a token is renewed. A token lasts an hour. */
const renewalMs = 300_000;

function entraTokens(client: EntraClient, secret: string, clock: Clock): AccessTokens {
  const { tenant, client_id, authority = publicAuthority, scope = aiServices } = client;
  const request = tokenEndpoint(new URL(`${authority}/${tenant}/oauth2/v2.0/token`), clock);
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret: secret, scope });
  let current: { readonly token: string; readonly renewedAtMs: number } | undefined;
  let making: Promise<string> | undefined;

  async function make(): Promise<string> {
    try {
      const { access_token: token, expires_in: seconds } = await request(form.toString());
      const lifetimeMs = (toCount(Number(seconds)) ?? 0) * 1_000;
      current = { token, renewedAtMs: clock.nowMs() + lifetimeMs - renewalMs };
      return token;
    } catch (error) {
      throw new TokenUnavailable(error);
    }
  }

  return {
    token() {
      if (current !== undefined && clock.nowMs() < current.renewedAtMs) return Promise.resolve(current.token);
      making ??= make().finally(() => {
        making = undefined;
      });
      return making;
    },
  };
}
