// Reads the identity provider at which people sign in to the console. No value is a secret, because the page is a
// public client.
import { environmentNames } from '../constants/index.ts';
import type { Variables } from './aws-environment.ts';

export interface SignInSettings {
  /** Issuer exactly as the provider writes it in its tokens. */
  readonly issuer: string;
  readonly clientId: string;
  /** The claim of the token that lists groups. */
  readonly groupsClaim: string;
}

const groupsClaimDefault = 'groups';
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** True for a URL that is encrypted, or on this machine. */
export function isTrustedUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && loopback.test(url.hostname)));
}

interface WrittenSettings {
  readonly issuer?: string | undefined;
  readonly clientId?: string | undefined;
  readonly groupsClaim?: string | undefined;
}

/**
 * Returns undefined when nothing is set. Throws with the name that the caller gives to the missing or malformed
 * variable.
 */
export function readSignIn(
  { issuer, clientId, groupsClaim = groupsClaimDefault }: WrittenSettings,
  names: { readonly issuer: string; readonly clientId: string },
): SignInSettings | undefined {
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || !isTrustedUrl(issuer) || new URL(issuer).search !== '') {
    throw new Error(`${names.issuer} must be the URL of an identity provider: https://, or on this machine`);
  }
  if (clientId === undefined || clientId === '') throw new Error(`${names.clientId} must name the client`);
  return { issuer, clientId, groupsClaim };
}

/** Settings of the sign-in; undefined when only operator keys open the console. */
export const readSignInEnvironment = (variables: Variables = process.env): SignInSettings | undefined =>
  readSignIn(
    {
      issuer: variables[environmentNames.signInIssuer],
      clientId: variables[environmentNames.signInClientId],
      groupsClaim: variables[environmentNames.signInGroupsClaim],
    },
    { issuer: environmentNames.signInIssuer, clientId: environmentNames.signInClientId },
  );
