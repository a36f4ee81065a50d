// Verifies an identity token. `jose` verifies its signature, audience and expiry; this file verifies the client that
// the token was issued for, and reads the claims about the person. The page compares the nonce, which only the page
// knows.
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose';
import * as z from 'zod/mini';
import type { Person } from '../../../shared/configuration/access/index.ts';
import { fail, okStatus } from '../../../shared/errors/index.ts';
import type { SignInSettings } from '../../../shared/foundation/environment/index.ts';
import { fetchText } from '../../../shared/foundation/outgoing/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { IssuerDiscovery } from './discover-issuer.ts';
import { rememberFailure } from './remember-failure.ts';

/** Asymmetric signature algorithms. A shared secret, or no signature, proves nothing to a public client. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Tolerance between the clocks of two machines. */
const clockToleranceSeconds = 60;
const keysTimeoutMs = 2_000;
const keysBytesMax = 256 * 1024;
/** Shortest time between two reads of the keys. A token with an unknown key causes a read. */
const keysCooldownMs = 30_000;
const keysFreshMs = 600_000;
/** Shape of a key set. The library checks each key that it uses. */
const keySet = z.looseObject({ keys: z.array(z.looseObject({})) });
const groupsMax = 1_000;

interface VerifiedPerson {
  readonly person: Person;
  readonly expiresAtMs: number;
}

export interface TokenVerifier {
  /**
   * Returns the person. Throws UNAUTHORIZED. If the keys of the identity provider cannot be read, throws
   * RATE_LIMITER_UNAVAILABLE, the code for a dependency that does not answer.
   */
  verify(token: string): Promise<VerifiedPerson>;
}

export function createTokenVerifier(settings: SignInSettings, discovery: IssuerDiscovery, clock: Clock): TokenVerifier {
  const { issuer, clientId, groupsClaim } = settings;
  const keySets = new Map<string, ReturnType<typeof createRemoteJWKSet>>();
  const keySetAt = (url: URL) => {
    const known = keySets.get(url.href) ?? remoteKeys(url, clock);
    // The provider has one key set. If it publishes another address for its keys, the former set is dropped.
    if (!keySets.has(url.href)) keySets.clear();
    keySets.set(url.href, known);
    return known;
  };
  return {
    async verify(token) {
      const { keys } = await discovery.endpoints().catch(throwKeysUnavailable);
      const options = {
        issuer,
        audience: clientId,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['sub', 'exp', 'iat'],
      };
      const { payload } = await jwtVerify(token, keySetAt(keys), options).catch(throwTokenError);
      // `azp` is the client for which the token was issued. A token with several audiences must have this claim, and
      // its value must be this client.
      const isShared = Array.isArray(payload.aud) && payload.aud.length > 1;
      if ((isShared || payload.azp !== undefined) && payload.azp !== clientId)
        throw fail('UNAUTHORIZED', { message: 'The token is for another client.' });
      return { person: readPerson(payload, groupsClaim), expiresAtMs: (payload.exp ?? 0) * 1_000 };
    },
  };
}

function remoteKeys(url: URL, clock: Clock) {
  const request = { url, timeoutMs: keysTimeoutMs, bytesMax: keysBytesMax, clock };
  const readKeys = rememberFailure(clock, async () => keySet.parse(JSON.parse(await fetchText(request))));
  return createRemoteJWKSet(url, {
    timeoutDuration: keysTimeoutMs,
    cooldownDuration: keysCooldownMs,
    cacheMaxAge: keysFreshMs,
    [customFetch]: async () => Response.json(await readKeys(), { status: okStatus }),
  });
}

function throwTokenError(cause: unknown): never {
  if (cause instanceof errors.JWTExpired) {
    throw fail('UNAUTHORIZED', { message: 'The sign-in has ended: sign in again.', cause });
  }
  if (!(cause instanceof errors.JOSEError) || isKeySetFault(cause)) return throwKeysUnavailable(cause);
  throw fail('UNAUTHORIZED', { message: 'The identity token is not one that this gateway accepts.', cause });
}

const isKeySetFault = (error: unknown): boolean =>
  error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || isGenericJoseError(error);
/**
 * True for the general error that the library throws if the key set is invalid. The library has no class for that case.
 */
const isGenericJoseError = (error: unknown): boolean =>
  error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC';

const throwKeysUnavailable = (cause: unknown): never => {
  throw fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'The keys of the identity provider cannot be read. Try again later.',
    cause,
  });
};

function readPerson(claims: JWTPayload, groupsClaim: string): Person {
  const { sub = '', email, email_verified: isVerified } = claims;
  // Some providers write booleans as text.
  const hasVerifiedEmail = typeof email === 'string' && (isVerified === true || isVerified === 'true');
  return { subject: sub, email: hasVerifiedEmail ? email : undefined, groups: readGroups(claims[groupsClaim]) };
}

/**
 * Returns the groups of a claim. A claim that is one text has no groups, because the separator of groups is unknown.
 */
const readGroups = (claim: unknown): string[] =>
  (Array.isArray(claim) ? claim : []).filter((group) => typeof group === 'string').slice(0, groupsMax);
