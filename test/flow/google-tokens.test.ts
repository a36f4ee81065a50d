import { createVerify, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const variable = 'GW_TEST_SERVICE_ACCOUNT';

/** Google's token endpoint, as documented for service accounts (RFC 7523). */
interface TokenEndpoint {
  readonly url: string;
  readonly requests: {
    readonly form: URLSearchParams;
    readonly claims: Record<string, unknown>;
    readonly isSigned: boolean;
  }[];
  answer: { status: number; body: object } | 'nothing';
  stop(): Promise<void>;
}

async function startTokenEndpoint(): Promise<TokenEndpoint> {
  const endpoint = { requests: [] as TokenEndpoint['requests'], answer: ok('token-1') as TokenEndpoint['answer'] };
  const server: Server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (text) => {
      body += text;
    });
    incoming.on('end', () => {
      const form = new URLSearchParams(body);
      const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
      const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
      endpoint.requests.push({ form, isSigned, claims: JSON.parse(Buffer.from(claims, 'base64url').toString()) });
      if (endpoint.answer === 'nothing') return;
      outgoing.writeHead(endpoint.answer.status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(endpoint.answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(endpoint, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

const ok = (access_token: string, expires_in = 3_599) => ({
  status: 200,
  body: { access_token, expires_in, token_type: 'Bearer' },
});

describe('auth: { gcp }', () => {
  let harness: Harness;
  let endpoint: TokenEndpoint;
  const account = () =>
    JSON.stringify(
      {
        type: 'service_account',
        client_email: 'gw@project.iam.gserviceaccount.com',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        token_uri: endpoint.url,
      },
      null,
      2,
    );
  beforeAll(async () => {
    endpoint = await startTokenEndpoint();
    process.env[variable] = account();
    harness = await startHarness({
      providers: { vertex: { kind: 'vertex', apis: ['generate-content'], auth: { gcp: { env: variable } } } },
      models: {
        gemini: [{ provider: 'vertex', upstream: 'echo' }],
        either: [
          { provider: 'vertex', upstream: 'echo', more: { output_price_per_million: '0.1' } },
          { provider: 'acme', upstream: 'echo' },
        ],
      },
    });
  });
  afterAll(async () => {
    delete process.env[variable];
    await harness.stop();
    await endpoint.stop();
  });
  beforeEach(() => {
    harness.simulator.clear();
    endpoint.requests.length = 0;
  });
  const credentials = () => harness.simulator.calls.map(({ headers }) => headers.authorization);

  it('makes a token at the account’s own endpoint, signed by its key, and keeps it for later calls', async () => {
    for (const _ of [1, 2]) expect((await harness.post(hello('gemini'))).status).toBe(200);
    expect(credentials()).toEqual(['Bearer token-1', 'Bearer token-1']);
    expect(endpoint.requests).toHaveLength(1);
    const [request] = endpoint.requests;
    expect(request?.isSigned).toBe(true);
    expect(request?.form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    expect(request?.claims).toMatchObject({
      iss: 'gw@project.iam.gserviceaccount.com',
      aud: endpoint.url,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
  });

  it('renews a token that soon ends', async () => {
    process.env[variable] = account().concat('\n');
    endpoint.answer = ok('token-2', 60);
    for (const _ of [1, 2]) expect((await harness.post(hello('gemini'))).status).toBe(200);
    expect(credentials()).toEqual(['Bearer token-2', 'Bearer token-2']);
    expect(endpoint.requests).toHaveLength(2);
  });

  it.each([
    ['refuses', { status: 400, body: { error: 'invalid_grant', error_description: 'secret words' } }],
    ['fails', { status: 500, body: {} }],
  ])('is a failure of that provider where the endpoint %s: another candidate answers', async (_what, answer) => {
    process.env[variable] = account().concat(' '.repeat(answer.status));
    endpoint.answer = answer;
    const served = await harness.post(hello('either'));
    expect(((await served.json()) as { usage: { provider: string } }).usage.provider).toBe('acme');
    await harness.settled();
    expect(harness.logLines.join('\n')).not.toContain('secret words');
    expect(harness.logLines.join('\n')).not.toContain('PRIVATE KEY');
    expect(harness.simulator.calls.map(({ provider }) => provider)).toEqual(['acme']);
  });
});
