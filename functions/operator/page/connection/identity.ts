// Signs people in at their identity provider as a public client, with the code flow of OpenID Connect and PKCE. The
// page checks that the response belongs to its own request (state, issuer, nonce). The gateway checks the token with
// every request.
import { signInWithToken, signOut } from './operator-session.ts';
import { type PageSignIn, readSettings } from './settings.ts';

/** The sign-in request, stored in this tab alone until the browser returns, and used once. */
interface SignInRequest {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Query of the view that the person opened. */
  readonly search: string;
}

interface Claims {
  readonly nonce?: unknown;
  readonly iat?: unknown;
  readonly exp?: unknown;
}

const pendingSignInName = 'gw-sign-in';
const secretBytes = 32;
const tokenTimeoutMs = 10_000;

const redirectUri = (): string => `${location.origin}/console`;

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

export const randomText = (bytes = secretBytes): string => base64Url(crypto.getRandomValues(new Uint8Array(bytes)));

/** Navigates this tab to the sign-in page of the identity provider. */
export async function goToIdentityProvider({ client_id, authorization_endpoint, scope }: PageSignIn) {
  const pendingSignIn: SignInRequest = {
    state: randomText(),
    nonce: randomText(),
    verifier: randomText(),
    search: location.search,
  };
  const challenge = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pendingSignIn.verifier));
  const address = new URL(authorization_endpoint ?? '');
  const parameters = {
    client_id,
    response_type: 'code',
    redirect_uri: redirectUri(),
    scope: scope ?? 'openid',
    state: pendingSignIn.state,
    nonce: pendingSignIn.nonce,
    code_challenge: base64Url(new Uint8Array(challenge)),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  sessionStorage.setItem(pendingSignInName, JSON.stringify(pendingSignIn));
  location.assign(address);
}

/**
 * Called when the page loads. If its URL contains a response of the identity provider, this function signs the person in
 * or shows the error, and restores the URL of the view.
 */
export async function completeSignIn(): Promise<void> {
  const response = new URLSearchParams(location.search);
  if (!response.has('state') || !(response.has('code') || response.has('error'))) return;
  const storedText = sessionStorage.getItem(pendingSignInName);
  sessionStorage.removeItem(pendingSignInName);
  const pendingSignIn = storedText === null ? undefined : (JSON.parse(storedText) as SignInRequest);
  // A code is valid once, so it is removed from the browser's history.
  history.replaceState(null, '', location.pathname + (pendingSignIn?.search ?? ''));
  try {
    signInWithToken(await exchangeCodeForToken(response, pendingSignIn));
  } catch (error) {
    signOut(error instanceof Error ? error.message : String(error));
  }
}

async function exchangeCodeForToken(response: URLSearchParams, pendingSignIn: SignInRequest | undefined) {
  if (pendingSignIn === undefined || response.get('state') !== pendingSignIn.state) {
    throw new Error('This sign-in was not started in this tab. Sign in again.');
  }
  const { sign_in: settings } = await readSettings();
  if (!settings?.token_endpoint) throw new Error('The gateway does not reach the identity provider. Try again later.');
  const issuer = response.get('iss');
  if (issuer !== null && issuer !== settings.issuer)
    throw new Error('The response came from another identity provider.');
  const error = response.get('error');
  if (error !== null) throw new Error(`The identity provider refused: ${response.get('error_description') ?? error}`);
  const token = await readToken(settings.token_endpoint, {
    grant_type: 'authorization_code',
    client_id: settings.client_id,
    code: response.get('code') ?? '',
    redirect_uri: redirectUri(),
    code_verifier: pendingSignIn.verifier,
  });
  const { nonce, iat, exp } = readClaims(token);
  if (nonce !== pendingSignIn.nonce) throw new Error('The identity token belongs to another sign-in. Sign in again.');
  // Only the token's lifetime is used, counted from now, because the clock of this machine may be wrong. The gateway
  // refuses a token without these two claims, so its session ends at once.
  const lifetimeMs = typeof iat === 'number' && typeof exp === 'number' ? (exp - iat) * 1_000 : 0;
  return { token, endsAtMs: Date.now() + lifetimeMs };
}

async function readToken(endpoint: string, form: Record<string, string>): Promise<string> {
  const response = await fetch(endpoint, {
    method: 'POST',
    body: new URLSearchParams(form),
    credentials: 'omit',
    signal: AbortSignal.timeout(tokenTimeoutMs),
  }).catch(() => {
    throw new Error(
      'This page cannot call the token endpoint of the identity provider. Add the origin of this page to the origins that the identity provider allows.',
    );
  });
  const body = (await response.json().catch(() => ({}))) as { id_token?: unknown; error?: unknown };
  if (typeof body.id_token === 'string') return body.id_token;
  throw new Error(`The identity provider gave no token: ${String(body.error ?? `status ${response.status}`)}`);
}

/** Reads the claims of a token only to compare them. The gateway checks the signature. */
function readClaims(token: string): Claims {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as Claims;
  } catch {
    return {};
  }
}
