// A certified OpenID Connect provider on this machine, and the requests that a browser would send to its pages.

import { createHash } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { clientId } from './identity-provider.ts';

export interface RealProvider {
  readonly issuer: string;
  /**
   * Returns the ID token that a public client gets with the code flow and PKCE, for an account whose id is its e-mail
   * address.
   */
  signIn(account: string, nonce: string): Promise<string>;
  stop(): Promise<void>;
}

const redirectUri = 'http://127.0.0.1/console';
const verifier = 'a-code-verifier-that-is-long-enough-for-the-exchange';

/** Starts the provider. `groups` are those of each account. */
export async function startRealProvider(groups: readonly string[]): Promise<RealProvider> {
  // The issuer contains the port, which is known once the server listens.
  const { createServer } = await import('node:http');
  const server: Server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    conformIdTokenClaims: false,
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: true, groups: [...groups] }),
    }),
    pkce: { required: () => true },
    // The page calls the token endpoint from its own origin.
    clientBasedCORS: () => true,
  });
  // The page's server gets its port after the provider has its own.
  provider.Client.prototype.redirectUriAllowed = (uri: string) =>
    new URL(uri).pathname === new URL(redirectUri).pathname;
  const handle = provider.callback();

  async function signIn(account: string, nonce: string): Promise<string> {
    const cookies = new Map<string, string>();
    const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
      const response = await fetch(new URL(url, issuer), {
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      return response;
    };
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const parameters = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid email groups',
      state: 's',
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    let next = (await visit(`/auth?${parameters}`)).headers.get('location') ?? '';
    // The provider has development pages: one to log in, one to consent, and redirects between them.
    for (let step = 0; step < 8 && !next.startsWith(redirectUri); step += 1) {
      const isPage = new URL(next, issuer).pathname.startsWith('/interaction/');
      const prompt = cookies.has('logged-in')
        ? { prompt: 'consent' }
        : { prompt: 'login', login: account, password: 'any' };
      const response = await visit(next, isPage ? prompt : undefined);
      if (isPage) cookies.set('logged-in', '1');
      next = response.headers.get('location') ?? '';
    }
    const code = new URL(next).searchParams.get('code') ?? '';
    const exchange = await visit('/token', {
      client_id: clientId,
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    return ((await exchange.json()) as { id_token: string }).id_token;
  }

  return {
    issuer,
    signIn,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
