// Google's token endpoint, as documented for service accounts (RFC 7523), and an account of it.
import { createVerify, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createFaultScript } from './fault-script.ts';
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
  /** Rejects if a failure that a test has set was never sent. */
  stop(): Promise<void>;
}

export const tokenAnswer = (access_token: string, expires_in = 3_599): TokenAnswer => ({
  status: 200,
  body: { access_token, expires_in, token_type: 'Bearer' },
});

export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const script = createFaultScript('a token endpoint');
  let answer = tokenAnswer('token-1');
  const send = (outgoing: ServerResponse) => {
    script.markSent(JSON.stringify(answer));
    if (answer === 'nothing') return;
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(answer.body));
  };
  const server = await startScriptedProvider(send, { requests: 'optional' });
  const url = `${server.url}/token`;
  return {
    url,
    get requests() {
      return server.bodies.map(readRequest);
    },
    get answer() {
      return answer;
    },
    set answer(next) {
      if (next === 'nothing' || next.status >= 400) script.script(JSON.stringify(next));
      answer = next;
    },
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
    async stop() {
      await server.stop();
      script.check();
    },
  };
}

function readRequest(body: string): TokenRequest {
  const form = new URLSearchParams(body);
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
  return { form, isSigned, claims: JSON.parse(Buffer.from(claims, 'base64url').toString()) };
}
