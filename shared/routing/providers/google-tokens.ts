// Makes access tokens of Google Cloud for a service account. This module is loaded with the first call of a provider
// with a service account. Google's library makes and caches the tokens, and the request that fetches a token is sent
// like every other request.
import { createPrivateKey } from 'node:crypto';
import { JWT } from 'google-auth-library';
import type { Clock } from '../../foundation/time/index.ts';
import { TokenUnavailable } from './credential-source.ts';
import { type AccessTokens, parseSecret, tokenEndpoint } from './token-endpoint.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly token_uri: string;
}

/**
 * Returns the source of tokens. `text` is the JSON of a service account. Throws TokenUnavailable for any other text.
 */
export function googleTokens(text: string, clock: Clock): AccessTokens {
  const { client_email: email, private_key: key, token_uri: uri } = readServiceAccount(text);
  const send = tokenEndpoint(new URL(uri), clock);
  const request = async ({ data }: { readonly data?: unknown }) => ({ data: await send(String(data)) });

  // The library calls only this method of its own transport.
  const transporter = { request } as unknown as NonNullable<ConstructorParameters<typeof JWT>[0]>['transporter'];
  const client = new JWT({
    email,
    key,
    scopes: [scope],
    // The library would set Google's public endpoint, but `uri` may be another endpoint.
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
  const { client_email, private_key, token_uri } = parseSecret(text);
  const isWhole = [client_email, private_key, token_uri].every((member) => typeof member === 'string');
  if (!isWhole || !URL.canParse(String(token_uri))) {
    throw new TokenUnavailable(
      new Error('the credential is no JSON of a service account: client_email, private_key and token_uri'),
    );
  }
  return { client_email, private_key: pemOf(String(private_key)), token_uri } as ServiceAccount;
}

/**
 * Returns the key. Text from a shell or a form may have its line ends as two characters. Throws TokenUnavailable if it
 * is not a key.
 */
function pemOf(text: string): string {
  const key = text.replaceAll('\\r', '').replaceAll('\\n', '\n');
  try {
    createPrivateKey(key);
    return key;
  } catch {
    throw new TokenUnavailable(new Error('the private_key of the service account is no private key in PEM'));
  }
}
