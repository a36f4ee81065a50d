import type { SignInSettings } from '../../../shared/foundation/environment/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import { createIssuerDiscovery, type IssuerDiscovery } from './discover-issuer.ts';
import { createTokenVerifier, type TokenVerifier } from './verify-token.ts';

export type { IssuerEndpoints } from './discover-issuer.ts';

/** Signs people in. Present if a stage has an identity provider. */
export interface SignIn extends IssuerDiscovery, TokenVerifier {
  readonly settings: SignInSettings;
}

/** Creates the sign-in; no request is made yet. */
export function createSignIn(settings: SignInSettings, clock: Clock): SignIn {
  const discovery = createIssuerDiscovery(settings, clock);
  return { settings, ...discovery, ...createTokenVerifier(settings, discovery, clock) };
}
