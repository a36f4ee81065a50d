// Access tokens of Microsoft Entra for an application with a secret (learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow,
// November 2026). One form to one endpoint: Microsoft's library for it has a megabyte.
import type { EntraClient } from '../../configuration/catalogue/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { toCount } from '../../protocol/wire/index.ts';
import { TokenUnavailable } from './credential-source.ts';
import { type AccessTokens, tokenEndpoint } from './token-endpoint.ts';

const publicAuthority = 'https://login.microsoftonline.com';
const aiServices = 'https://cognitiveservices.azure.com/.default';
/** Before its end. A token lasts an hour. */
const renewalMs = 300_000;

export function entraTokens(client: EntraClient, secret: string, clock: Clock): AccessTokens {
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
    async token() {
      if (current !== undefined && clock.nowMs() < current.renewedAtMs) return current.token;
      making ??= make().finally(() => {
        making = undefined;
      });
      return making;
    },
  };
}
