// Reads the metadata of an identity provider (OpenID Connect Discovery) on first use, and again when they are old.
import * as z from 'zod/mini';
import { createReadCache } from '../../../shared/foundation/cache/index.ts';
import { isTrustedUrl, type SignInSettings } from '../../../shared/foundation/environment/index.ts';
import { fetchText } from '../../../shared/foundation/outgoing/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { rememberFailure } from './remember-failure.ts';

export interface IssuerEndpoints {
  /** URL to which the browser goes to sign in. */
  readonly authorization: string;
  /** URL at which the page exchanges the code for a token. */
  readonly token: string;
  readonly keys: URL;
  /** Requested scopes that the provider knows. Unknown scopes are not requested, because some providers refuse them. */
  readonly scope: string;
}

const discoveryPath = '/.well-known/openid-configuration';
/** Time limit, which is short because a page load waits for the answer. */
const discoveryTimeoutMs = 2_000;
const discoveryBytesMax = 256 * 1024;
const freshMs = 600_000;

const url = z.string().check(z.refine(isTrustedUrl));
const discoveryDocument = z.object({
  issuer: z.string(),
  authorization_endpoint: url,
  token_endpoint: url,
  jwks_uri: url,
  scopes_supported: z.optional(z.array(z.string())),
});

const scopes = ['openid', 'email', 'groups'];

export interface IssuerDiscovery {
  /**
   * Returns the endpoints. Rejects with an Error if the provider does not answer, or answers with an unusable document.
   */
  endpoints(): Promise<IssuerEndpoints>;
}

export function createIssuerDiscovery(settings: SignInSettings, clock: Clock): IssuerDiscovery {
  const cache = createReadCache<IssuerEndpoints>({ sizeMax: 1, freshMs, clock });
  return { endpoints: rememberFailure(clock, () => cache.get(settings.issuer, () => discover(settings, clock))) };
}

async function discover({ issuer, groupsClaim }: SignInSettings, clock: Clock): Promise<IssuerEndpoints> {
  const address = new URL(issuer.replace(/\/$/, '') + discoveryPath);
  const read = { url: address, timeoutMs: discoveryTimeoutMs, bytesMax: discoveryBytesMax, clock };
  const document = discoveryDocument.parse(JSON.parse(await fetchText(read)));
  // Another issuer's document would name another issuer's keys, which must not be trusted.
  if (document.issuer !== issuer) throw new Error('the discovery document names another issuer');
  return {
    authorization: document.authorization_endpoint,
    token: document.token_endpoint,
    keys: new URL(document.jwks_uri),
    scope: scopeOf(document.scopes_supported, groupsClaim),
  };
}

/** Returns the scopes to request. A provider that lists no scopes supports at least `openid` and `email`. */
const scopeOf = (supported: readonly string[] = ['openid', 'email'], groupsClaim: string): string =>
  [...new Set([...scopes, groupsClaim])].filter((scope) => scope === 'openid' || supported.includes(scope)).join(' ');
