// Finds credentials for providers whose calls need a signature or a token of their own. `auth: { sigv4: … }` signs with
// the AWS credentials of the process (for instance the role of a function), so that a model of Amazon Bedrock needs no
// stored secret. `auth: { gcp: … }` and `auth: { entra: … }` request access tokens. The sources wrap each other: each
// passes the providers that it does not handle to the next one.

import { accountOf, type EntraClient, type ProviderAuth } from '../../configuration/catalogue/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { toCount } from '../../protocol/wire/index.ts';
import { type AwsCredentialProvider, requestSigner } from '../../storage/aws-clients/index.ts';
import { type Credential, type CredentialSource, TokenUnavailable } from './credential-source.ts';
import { type AccessTokens, tokenEndpoint } from './token-endpoint.ts';

interface SignedCredentialsOptions {
  /** Source for every provider without `sigv4`. */
  readonly source: CredentialSource;
  readonly awsCredentials: AwsCredentialProvider;
  /** Returns true if the process has AWS credentials. Without them a provider with `sigv4` has no credential. */
  readonly hasAwsCredentials: () => boolean;
  readonly clock: Clock;
}

export function signedCredentials(options: SignedCredentialsOptions): CredentialSource {
  const { awsCredentials, hasAwsCredentials, clock } = options;
  const source = tokenCredentials({ source: options.source, clock });
  const credentials = new Map<string, Credential>();

  const signing = (service: string, region: string): Credential => ({
    headers: {},
    sign: requestSigner({ service, region, credentials: awsCredentials, clock }),
  });

  return {
    ...source,
    find(provider) {
      const { auth } = provider;
      if (auth === 'none' || !('sigv4' in auth)) return source.find(provider);
      if (!hasAwsCredentials()) return undefined;
      const { service, region } = auth.sigv4;
      const cacheKey = `${service} ${region}`;
      const credential = credentials.get(cacheKey) ?? signing(service, region);
      credentials.set(cacheKey, credential);
      return credential;
    },
  };
}

// Requests access tokens for provider calls. `auth: { gcp: … }` gets a token of Google Cloud for the service account in
// the provider's secret. `auth: { entra: … }` gets a token of Microsoft Entra for an application and its secret.

interface TokenCredentialsOptions {
  /** Source for every other provider, and for the secrets with which tokens are requested. */
  readonly source: CredentialSource;
  readonly clock: Clock;
}

type TokenAuth = Extract<ProviderAuth, { gcp: unknown } | { entra: unknown }>;

const hasToken = (auth: ProviderAuth): auth is TokenAuth => auth !== 'none' && ('gcp' in auth || 'entra' in auth);

interface CachedCredential {
  /** JSON of the provider's `auth` and its secret. If either changes, a new token is requested. */
  readonly authAndSecret: string;
  readonly credential: Credential;
}

function tokenCredentials({ source, clock }: TokenCredentialsOptions): CredentialSource {
  const accounts = new Map<string, CachedCredential>();

  async function createTokens(auth: TokenAuth, secret: string): Promise<AccessTokens> {
    if ('entra' in auth) return entraTokens(auth.entra, secret, clock);
    const { googleTokens } = await import('./google-tokens.ts');
    return googleTokens(secret, clock);
  }

  function tokenCredential(auth: TokenAuth, secret: string): Credential {
    let loading: Promise<AccessTokens> | undefined;
    const load = () => {
      loading ??= createTokens(auth, secret);
      return loading;
    };
    return {
      headers: {},
      fetchesToken: true,
      async sign({ headers }) {
        const token = await (await load()).token();
        if (!/^[\x21-\x7e]+$/.test(token))
          throw new TokenUnavailable(new Error('the token has characters that a header cannot have'));
        return { ...headers, authorization: `Bearer ${token}` };
      },
    };
  }

  return {
    ...source,
    find(provider) {
      const { auth } = provider;
      if (!hasToken(auth)) return source.find(provider);
      // The next source sends any secret in this header. Here the secret is the means to request a token.
      const secret = source.find(provider)?.headers.authorization;
      if (secret === undefined) return undefined;
      const authAndSecret = JSON.stringify([auth, secret]);
      const known = accounts.get(accountOf(provider));
      if (known?.authAndSecret === authAndSecret) return known.credential;
      const credential = tokenCredential(auth, secret);
      accounts.set(accountOf(provider), { authAndSecret, credential });
      return credential;
    },
    async refresh() {
      // A token that was refused is not used again.
      accounts.clear();
      await source.refresh();
    },
  };
}

// Requests access tokens of Microsoft Entra for an application with a secret
// (learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, November 2026). That takes one form
// to one endpoint, whereas Microsoft's library is a megabyte in size.

const publicAuthority = 'https://login.microsoftonline.com';
const aiServices = 'https://cognitiveservices.azure.com/.default';
/** A token is renewed this long before it expires. A token lasts an hour. */
const renewalMs = 300_000;

function entraTokens(client: EntraClient, secret: string, clock: Clock): AccessTokens {
  const { tenant, client_id, authority = publicAuthority, scope = aiServices } = client;
  const request = tokenEndpoint(new URL(`${authority}/${tenant}/oauth2/v2.0/token`), clock);
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret: secret, scope });
  let current: { readonly token: string; readonly renewAtMs: number } | undefined;
  let pendingToken: Promise<string> | undefined;

  async function requestToken(): Promise<string> {
    try {
      const { access_token: token, expires_in: seconds } = await request(form.toString());
      const lifetimeMs = (toCount(Number(seconds)) ?? 0) * 1_000;
      current = { token, renewAtMs: clock.nowMs() + lifetimeMs - renewalMs };
      return token;
    } catch (error) {
      throw new TokenUnavailable(error);
    }
  }

  return {
    token() {
      if (current !== undefined && clock.nowMs() < current.renewAtMs) return Promise.resolve(current.token);
      pendingToken ??= requestToken().finally(() => {
        pendingToken = undefined;
      });
      return pendingToken;
    },
  };
}
