// Requests access tokens from an OAuth endpoint, within bounds.
import { keepAliveIdleMs } from '../../foundation/constants/index.ts';
import { createOutgoingCalls, readText } from '../../foundation/outgoing/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { isJsonObject, type JsonObject } from '../../protocol/wire/index.ts';

/** Time limit. A token usually arrives within a fraction of a second, and other candidates need the time. */
const tokenLimitMs = 5_000;
const connectTimeoutMs = 3_000;
/** Bound of the answer. A token has two kilobytes. */
const answerMaxBytes = 64 * 1024;
/** Maximum sockets, because calls that wait for a token share one request. */
const socketsMax = 2;

export interface AccessTokens {
  /** Returns a token, which is renewed before it expires. Rejects with TokenUnavailable. */
  token(): Promise<string>;
}

/** An answer with an `access_token`. */
type TokenGrant = JsonObject & { readonly access_token: string };

/** Returns a function that posts a form, and rejects if no token comes. */
export function tokenEndpoint(url: URL, clock: Clock): (form: string) => Promise<TokenGrant> {
  const calls = createOutgoingCalls({ clock, socketsMax, idleSocketMs: keepAliveIdleMs });
  return async (form) => {
    const ending = new AbortController();
    const cancel = clock.after(tokenLimitMs, () => ending.abort());
    try {
      const { status, body } = await calls.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: form,
        connectTimeoutMs,
        signal: ending.signal,
      });
      const answer = parseSecret((await readText(body, answerMaxBytes)) ?? '');
      const { access_token: token } = answer;
      if (status !== 200 || typeof token !== 'string') throw new Error(describe(status, answer));
      return { ...answer, access_token: token };
    } finally {
      cancel();
    }
  };
}

/** Parses a text, and hides the parser's own error, which quotes it. */
export function parseSecret(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Describes a failure by a code of the protocol, such as `invalid_grant`, and never by the endpoint's text. */
const describe = (status: number, { error }: JsonObject): string => {
  const word = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : '';
  return `the token endpoint answered ${status}${word}`;
};
