import { createHash, createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { localCredentials } from '../../shared/composition/index.ts';
import type { ProviderDocument } from '../../shared/configuration/catalogue/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { credentialWith, signedCredentials } from '../../shared/routing/providers/index.ts';
import { credentialsOf } from '../support/credentials.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startTokenEndpoint, type TokenEndpoint, tokenAnswer } from '../support/token-endpoint.ts';
import { eventually } from '../support/watched-clock.ts';

type CallOfProvider = Harness['simulator']['calls'][number];

const identity = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'canary-secret-of-the-role', sessionToken: 'token-1' };
const sigv4 = (service: string, region = 'eu-west-1') => ({ auth: { sigv4: { service, region } } });
/** A colon in a model's name is escaped in the path, and once more in the signed text. */
const upstream = 'eu.anthropic/echo:0';
const models = {
  'bedrock/echo': [{ provider: 'bedrock', upstream: 'echo' }],
  ...Object.fromEntries(
    ['converse', 'mantle', 'vertex'].map((provider) => [`${provider}/model`, [{ provider, upstream }]]),
  ),
  'mixed/model': [
    { provider: 'converse', upstream: 'error-500' },
    { provider: 'anthropic', upstream: 'echo' },
  ],
};
const providers = {
  bedrock: sigv4('bedrock'),
  converse: { ...sigv4('bedrock', 'us-east-1'), apis: ['converse'] },
  mantle: { ...sigv4('bedrock-mantle'), apis: ['messages'] },
  vertex: { ...sigv4('vertex'), apis: ['generate-content'] },
  anthropic: { apis: ['messages'], auth: { header: { name: 'x-api-key', env: 'ACME_API_KEY' } } },
};

const anthropicKey = 'canary-key-for-anthropic';

const signing = (isAvailable: boolean) =>
  signedCredentials({
    source: credentialsOf(({ auth }) => credentialWith(auth, anthropicKey)),
    awsCredentials: async () => identity,
    hasAwsCredentials: () => isAvailable,
    clock: systemClock,
  });

describe('a provider with auth sigv4', () => {
  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({ models, providers, replace: () => ({ credentials: signing(true) }) });
  });
  afterAll(() => gateway.stop());

  it('is called with a signature of the process over the very body, and no stored secret', async () => {
    expect((await gateway.post(hello('bedrock/echo'))).status).toBe(200);
    const [call] = gateway.simulator.calls;
    expect(call?.headers).toMatchObject({ 'x-amz-security-token': 'token-1', host: call?.headers.host });
    expectSigned(call, 'eu-west-1/bedrock');
    expect(JSON.stringify(call?.headers)).not.toContain(identity.secretAccessKey);
  });

  it.each([
    ['converse', 'us-east-1/bedrock', '/model/eu.anthropic%2Fecho%3A0/converse', '-stream'],
    ['mantle', 'eu-west-1/bedrock-mantle', '/messages', ''],
    ['vertex', 'eu-west-1/vertex', '/models/eu.anthropic/echo:0:generateContent', undefined],
  ])(
    'is signed in a format of its own, whole and streamed, and no key of a package is sent: %s',
    async (provider, scope, path, ending) => {
      gateway.simulator.clear();
      for (const stream of [false, true]) {
        const text = await (await gateway.post(hello(`${provider}/model`, { stream }))).text();
        expect(text).toContain(stream ? 'data: [DONE]' : 'chat.completion');
      }
      const paths = gateway.simulator.calls.map((call) => call.path.slice(call.path.indexOf('/v1') + '/v1'.length));
      const streamPath = ending === undefined ? path.replace(':generate', ':streamGenerate') : `${path}${ending}`;
      expect(paths).toEqual([path, streamPath]);
      for (const call of gateway.simulator.calls) {
        expectSigned(call, scope);
        expect(JSON.stringify(call.headers)).not.toMatch(/none|x-api-key|x-goog-api-key|bearer/i);
      }
    },
  );

  it('that fails is replaced by one with a key, and neither sees what is for the other', async () => {
    gateway.simulator.clear();
    expect((await gateway.post(hello('mixed/model'))).status).toBe(200);
    const [signedCall, other] = gateway.simulator.calls;
    expectSigned(signedCall, 'us-east-1/bedrock');
    expect(JSON.stringify(signedCall)).not.toContain(anthropicKey);
    expect(other?.headers['x-api-key']).toBe(anthropicKey);
    expect(Object.keys(other?.headers ?? {}).filter((name) => /^(x-amz|authorization)/.test(name))).toEqual([]);
  });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Computes a signature as AWS documents it, without any code of the SDK. */
function signatureOf(url: URL, headers: Readonly<Record<string, string>>, body: string, scope: string): string {
  const escaped = url.pathname.split('/').map(encodeURIComponent).join('/');
  const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort();
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, ' ')}\n`).join('');
  const canonical = ['POST', escaped, query.join('&'), lines, names.join(';'), sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${identity.secretAccessKey}`);
  return createHmac('sha256', key).update(toSign).digest('hex');
}

/** Checks the signature over the very bytes that arrived. */
function expectSigned(call: CallOfProvider | undefined, scope: string): void {
  if (call === undefined) throw new Error('no call arrived');
  const { authorization = '', ...otherHeaders } = call.headers;
  const [, day = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/\S+, SignedHeaders=(\S+), Signature=(\w+)$/.exec(
      authorization,
    ) ?? [];
  expect(authorization).toContain(`/${day}/${scope}/aws4_request,`);
  expect(names.split(';')).toEqual(expect.arrayContaining(['content-type', 'host', 'x-amz-security-token']));
  const headers = Object.fromEntries(names.split(';').map((name) => [name, otherHeaders[name] ?? '']));
  const url = new URL(`http://provider${call.path}${call.query === '' ? '' : `?${call.query}`}`);
  expect(signatureOf(url, headers, call.bodyText, `${day}/${scope}/aws4_request`)).toBe(signature);
}

it('the signature of a call covers each value of a query, and headers beside those of the transport', async () => {
  const url = new URL('https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages?beta=true&a=%20b&a=1');
  const body = JSON.stringify({ text: 'ä' });
  const credential = signing(true).find({ auth: sigv4('bedrock-mantle').auth } as ProviderDocument);
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
  const { authorization = '', ...otherHeaders } = (await credential?.sign?.({ url, headers, body })) ?? {};
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(authorization) ?? [];
  expect(scope).toMatch(/^\d{8}\/eu-west-1\/bedrock-mantle\/aws4_request$/);
  expect(names.split(';')).toEqual(expect.arrayContaining(['anthropic-version', 'content-type', 'host']));
  const signedHeaders = Object.fromEntries(names.split(';').map((name) => [name, otherHeaders[name] ?? '']));
  expect(signatureOf(url, signedHeaders, body, scope)).toBe(signature);
});

describe('if no call can be signed', () => {
  it('such a provider is not configured, and is not called', async () => {
    const gateway = await startHarness({ models, providers, replace: () => ({ credentials: signing(false) }) });
    try {
      const response = await gateway.post(hello('bedrock/echo'));
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: 'provider_not_configured' });
      expect(gateway.simulator.calls).toHaveLength(0);
    } finally {
      await gateway.stop();
    }
  });
});

const variable = 'GW_TEST_SERVICE_ACCOUNT';

/** Each fault has a provider of its own, because a failing provider cools. */
const faults = {
  refuses: { status: 400, body: { error: 'invalid_grant', error_description: 'secret words' } },
  fails: { status: 500, body: {} },
  'gives-no-token': { status: 200, body: { expires_in: 3_599 } },
  hangs: 'nothing',
} as const;
const vertex = { kind: 'vertex', apis: ['generate-content'], auth: { gcp: { env: variable } } };
const ids = ['vertex', ...Object.keys(faults)];

describe('auth: { gcp }', () => {
  let harness: Harness;
  let endpoint: TokenEndpoint;
  beforeEach(async () => {
    endpoint = await startTokenEndpoint();
    process.env[variable] = endpoint.account();
    harness.simulator.clear();
  });
  afterEach(() => endpoint.stop());
  beforeAll(async () => {
    harness = await startHarness({
      providers: Object.fromEntries(ids.map((id) => [id, vertex])),
      models: {
        ...Object.fromEntries(ids.map((id) => [id, [{ provider: id, upstream: 'echo' }]])),
        ...Object.fromEntries(
          ids.map((id) => [
            `${id}/or-acme`,
            [
              { provider: id, upstream: 'echo', more: { output_price_per_million: '0.1' } },
              { provider: 'acme', upstream: 'echo' },
            ],
          ]),
        ),
      },
    });
  });
  afterAll(async () => {
    delete process.env[variable];
    await harness.stop();
  });
  const credentials = () => harness.simulator.calls.map(({ headers }) => headers.authorization);
  const calledProviders = () => harness.simulator.calls.map(({ provider }) => provider);
  const expectNoReport = () => {
    const lines = harness.logLines.join('\n');
    for (const secret of ['secret words', 'PRIVATE KEY', 'token-']) expect(lines).not.toContain(secret);
  };

  it('makes a token at the account’s own endpoint, signed by its key, and keeps it for later calls', async () => {
    for (const _ of [1, 2]) expect((await harness.post(hello('vertex'))).status).toBe(200);
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
    expectNoReport();
  });

  it('takes an account whose key has its line ends as two characters', async () => {
    process.env[variable] = endpoint.account().replaceAll('\\n', '\\\\n');
    expect((await harness.post(hello('vertex'))).status).toBe(200);
    expect(endpoint.requests[0]?.isSigned).toBe(true);
  });

  it('says in the log what is wrong with a key that is none, and no more of it', async () => {
    process.env[variable] = endpoint.account().replaceAll('PRIVATE KEY', 'SECRET KEY');
    expect((await harness.post(hello('vertex'))).status).toBe(502);
    await harness.settled();
    const line = harness.logLines.map((text) => JSON.parse(text)).findLast(({ event }) => event === 'attempt_failed');
    expect(line).toMatchObject({ outcome: 'no_token', message: expect.stringContaining('no private key in PEM') });
    expect(endpoint.requests).toHaveLength(0);
    expectNoReport();
  });

  it('is asked once if several calls wait for the same token', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => harness.post(hello('vertex'))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(endpoint.requests).toHaveLength(1);
  });

  it('renews a token before it ends', async () => {
    endpoint.answer = tokenAnswer('token-2', 60);
    for (const _ of [1, 2]) expect((await harness.post(hello('vertex'))).status).toBe(200);
    expect(credentials()).toEqual(['Bearer token-2', 'Bearer token-2']);
    expect(endpoint.requests).toHaveLength(2);
  });

  it.each(['refuses', 'fails', 'gives-no-token'] as const)(
    'is a failure of that provider if the endpoint %s: another candidate answers, and the next call asks anew',
    async (fault) => {
      endpoint.answer = faults[fault];
      const response = await harness.post(hello(`${fault}/or-acme`));
      expect(await response.json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
      await harness.settled();
      expect(calledProviders()).toEqual(['acme']);
      expectNoReport();
      endpoint.answer = tokenAnswer('token-3');
      expect((await harness.post(hello(fault))).status).toBe(200);
    },
  );

  it('is a failure after five seconds if the endpoint hangs: another candidate answers', async () => {
    const clock = manualClock();
    const gateway = await harness.open({ replace: () => ({ credentials: localCredentials(clock) }) });
    endpoint.answer = faults.hangs;
    const answer = gateway.post(hello('hangs/or-acme'));
    await eventually(() => endpoint.requests.length === 1);
    clock.advance(4_999);
    expect(calledProviders()).toEqual([]);
    clock.advance(1);
    expect(await (await answer).json()).toMatchObject({ usage: { provider: 'acme', attempts: 2 } });
    expect(calledProviders()).toEqual(['acme']);
    expectNoReport();
  });
});
