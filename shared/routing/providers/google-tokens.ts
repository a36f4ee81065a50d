// Access tokens of Google Cloud for a service account. Loaded with the first call of such a provider: Google's library
// makes and keeps the tokens, the request that fetches one is sent like every other.
import { createPrivateKey } from 'node:crypto';
import { JWT } from 'google-auth-library';
import { keepAliveIdleMs } from '../../foundation/constants/index.ts';
import { createOutgoingCalls, readText } from '../../foundation/outgoing/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { isJsonObject, type JsonObject } from '../../protocol/wire/index.ts';
import { TokenUnavailable } from './credential-source.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
/** A token arrives within a fraction of a second, or other candidates should have the time. */
const tokenLimitMs = 5_000;
const connectTimeoutMs = 3_000;
/** A token has two kilobytes. */
const answerMaxBytes = 64 * 1024;
/** Calls that wait for a token share one request. */
const socketsMax = 2;

export interface GoogleTokens {
  /** Rejects with TokenUnavailable. A token that soon ends is made anew. */
  token(): Promise<string>;
}

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly token_uri: string;
}

/** `text`: the JSON of a service account. Throws TokenUnavailable where it is none. */
export function googleTokens(text: string, clock: Clock): GoogleTokens {
  const { client_email: email, private_key: key, token_uri: uri } = readServiceAccount(text);
  const url = new URL(uri);
  const calls = createOutgoingCalls({ clock, socketsMax, idleSocketMs: keepAliveIdleMs });

  async function request({ data }: { readonly data?: unknown }) {
    const ending = new AbortController();
    const cancel = clock.after(tokenLimitMs, () => ending.abort());
    try {
      const { status, body } = await calls.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: String(data),
        connectTimeoutMs,
        signal: ending.signal,
      });
      const answer = parse((await readText(body, answerMaxBytes)) ?? '');
      if (status !== 200 || typeof answer.access_token !== 'string') throw new Error(describe(status, answer));
      return { status, data: answer };
    } finally {
      cancel();
    }
  }

  // The only method of its own transport that the library calls.
  const transporter = { request } as unknown as NonNullable<ConstructorParameters<typeof JWT>[0]>['transporter'];
  const client = new JWT({
    email,
    key,
    scopes: [scope],
    // The library names Google's public endpoint: an account of another one is known there only.
    additionalClaims: { aud: uri },
    useAuthRequestParameters: false,
    ...(transporter === undefined ? {} : { transporter }),
  });
  return {
    async token() {
      try {
        const { token } = await client.getAccessToken();
        if (typeof token === 'string') return token;
      } catch (error) {
        throw new TokenUnavailable(error);
      }
      throw new TokenUnavailable(new Error('the token endpoint gave no token'));
    },
  };
}

function readServiceAccount(text: string): ServiceAccount {
  const { client_email, private_key, token_uri } = parse(text);
  const isWhole = [client_email, private_key, token_uri].every((member) => typeof member === 'string');
  if (!isWhole || !URL.canParse(String(token_uri))) {
    throw new TokenUnavailable(
      new Error('the credential is no JSON of a service account: client_email, private_key and token_uri'),
    );
  }
  return { client_email, private_key: pemOf(String(private_key)), token_uri } as ServiceAccount;
}

/** A text that went through a shell or a form has its line ends as two characters. Throws TokenUnavailable where it is no key. */
function pemOf(text: string): string {
  const key = text.replaceAll('\\r', '').replaceAll('\\n', '\n');
  try {
    createPrivateKey(key);
    return key;
  } catch {
    throw new TokenUnavailable(new Error('the private_key of the service account is no private key in PEM'));
  }
}

/** Hides the parser's own error, which quotes the text. */
function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** `invalid_grant`, say: a word of the protocol, never the endpoint's text. */
const describe = (status: number, { error }: JsonObject): string => {
  const word = typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? ` ${error}` : '';
  return `the token endpoint answered ${status}${word}`;
};
