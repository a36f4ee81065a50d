// Google's token endpoint, as documented for service accounts (RFC 7523), and an account of it.
import { createVerify, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { startScriptedProvider } from './scripted-provider.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export type TokenAnswer = { readonly status: number; readonly body: object } | 'nothing';

export interface TokenRequest {
  readonly form: URLSearchParams;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly isSigned: boolean;
}

export interface TokenEndpoint {
  readonly url: string;
  readonly requests: readonly TokenRequest[];
  answer: TokenAnswer;
  /** Returns the JSON of a service account of this endpoint, over several lines as Google's console writes it. */
  account(): string;
  stop(): Promise<void>;
}

export const tokenAnswer = (access_token: string, expires_in = 3_599): TokenAnswer => ({
  status: 200,
  body: { access_token, expires_in, token_type: 'Bearer' },
});

export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const send = (outgoing: ServerResponse) => {
    const { answer } = endpoint;
    if (answer === 'nothing') return;
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(answer.body));
  };
  const server = await startScriptedProvider(send, { requests: 'optional' });
  const url = `${server.url}/token`;
  const endpoint: TokenEndpoint = {
    url,
    get requests() {
      return server.bodies.map(readRequest);
    },
    answer: tokenAnswer('token-1'),
    account: () =>
      JSON.stringify(
        {
          type: 'service_account',
          client_email: 'gw@project.iam.gserviceaccount.com',
          private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
          token_uri: url,
        },
        null,
        2,
      ),
    stop: server.stop,
  };
  return endpoint;
}

function readRequest(body: string): TokenRequest {
  const form = new URLSearchParams(body);
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
  return { form, isSigned, claims: JSON.parse(Buffer.from(claims, 'base64url').toString()) };
}
