// Verifies an identity token: its signature, audience and expiry with `jose`, its claims about the person here. The
// page compares the nonce, which only it knows.
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose';
import * as z from 'zod/mini';
import type { Person } from '../../../shared/configuration/access/index.ts';
import { fail, okStatus } from '../../../shared/errors/index.ts';
import type { SignInSettings } from '../../../shared/foundation/environment/index.ts';
import { fetchText } from '../../../shared/foundation/outgoing/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { IssuerDiscovery } from './discover-issuer.ts';
import { rememberFailure } from './remember-failure.ts';

/** Algorithms with a published key. A shared secret, or no signature, proves nothing to a public client. */
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
/** Shortest time between two reads of the keys; a token with an unknown key causes one. */
const keysCooldownMs = 30_000;
const keysFreshMs = 600_000;
/** Key set; the library checks each key that it uses. */
const keySet = z.looseObject({ keys: z.array(z.looseObject({})) });
const groupsMax = 1_000;

interface SignedIn {
  readonly person: Person;
  readonly expiresAtMs: number;
}

export interface TokenVerifier {
  /** Returns the person. Throws UNAUTHORIZED, or RATE_LIMITER_UNAVAILABLE where the provider's keys cannot be read. */
  verify(token: string): Promise<SignedIn>;
}

export function createTokenVerifier(settings: SignInSettings, discovery: IssuerDiscovery, clock: Clock): TokenVerifier {
  const { issuer, clientId, groupsClaim } = settings;
  const keySets = new Map<string, ReturnType<typeof createRemoteJWKSet>>();
  const keySetAt = (url: URL) => {
    const known = keySets.get(url.href) ?? remoteKeys(url, clock);
    // The provider has one key set: the set of an address that is no longer published is dropped.
    if (!keySets.has(url.href)) keySets.clear();
    keySets.set(url.href, known);
    return known;
  };
  return {
    async verify(token) {
      const { keys } = await discovery.endpoints().catch(unreadable);
      const options = {
        issuer,
        audience: clientId,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(clock.nowMs()),
        requiredClaims: ['sub', 'exp', 'iat'],
      };
      const { payload } = await jwtVerify(token, keySetAt(keys), options).catch(refuse);
      // A token for several clients names the client for which it was issued; a token that names one must name this
      // one.
      const isShared = Array.isArray(payload.aud) && payload.aud.length > 1;
      if ((isShared || payload.azp !== undefined) && payload.azp !== clientId)
        throw fail('UNAUTHORIZED', { message: 'The token is for another client.' });
      return { person: personOf(payload, groupsClaim), expiresAtMs: (payload.exp ?? 0) * 1_000 };
    },
  };
}

function remoteKeys(url: URL, clock: Clock) {
  const read = { url, timeoutMs: keysTimeoutMs, bytesMax: keysBytesMax, clock };
  const readKeys = rememberFailure(clock, async () => keySet.parse(JSON.parse(await fetchText(read))));
  return createRemoteJWKSet(url, {
    timeoutDuration: keysTimeoutMs,
    cooldownDuration: keysCooldownMs,
    cacheMaxAge: keysFreshMs,
    [customFetch]: async () => Response.json(await readKeys(), { status: okStatus }),
  });
}

function refuse(cause: unknown): never {
  if (cause instanceof errors.JWTExpired) {
    throw fail('UNAUTHORIZED', { message: 'The sign-in has ended: sign in again.', cause });
  }
  const isOfToken = cause instanceof errors.JOSEError && !isOfKeySet(cause);
  if (!isOfToken) return unreadable(cause);
  throw fail('UNAUTHORIZED', { message: 'The identity token is not one that this gateway accepts.', cause });
}

const isOfKeySet = (error: unknown): boolean =>
  error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || isPlain(error);
/** True for the plain error that the library throws where the key set is invalid: it has no class for that. */
const isPlain = (error: unknown): boolean => error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC';

const unreadable = (cause: unknown): never => {
  throw fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'The identity provider does not answer: its keys cannot be read.',
    cause,
  });
};

function personOf(claims: JWTPayload, groupsClaim: string): Person {
  const { sub = '', email, email_verified: isVerified } = claims;
  // Some providers write booleans as text.
  const counts = typeof email === 'string' && (isVerified === true || isVerified === 'true');
  return { subject: sub, email: counts ? email : undefined, groups: groupsIn(claims[groupsClaim]) };
}

/** Returns the groups of a claim. A text is not a list: the separator of its groups is unknown. */
const groupsIn = (claim: unknown): string[] =>
  (Array.isArray(claim) ? claim : []).filter((group) => typeof group === 'string').slice(0, groupsMax);
