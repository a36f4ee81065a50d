import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import type { ProviderDocument } from '../../shared/configuration/catalogue/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { signedCredentials } from '../../shared/routing/providers/index.ts';
import { credentialsOf } from '../support/credentials.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const identity = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'canary-secret-of-the-role', sessionToken: 'token-1' };
const models = { 'bedrock/echo': [{ provider: 'bedrock', upstream: 'echo' }] };
const providers = { bedrock: { auth: { sigv4: { service: 'bedrock', region: 'eu-west-1' } } } };

const signing = (isAvailable: boolean) =>
  signedCredentials({
    source: credentialsOf(() => undefined),
    awsCredentials: async () => identity,
    isAvailable: () => isAvailable,
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
    const { authorization, host } = call?.headers ?? {};
    expect(authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}$/,
    );
    expect(call?.headers).toMatchObject({ 'x-amz-security-token': 'token-1', host });
    expect(JSON.stringify(call?.headers)).not.toContain(identity.secretAccessKey);
  });

  it('is signed anew for a stream, whose body differs', async () => {
    gateway.simulator.clear();
    await (await gateway.post(hello('bedrock/echo', { stream: true }))).text();
    await gateway.post(hello('bedrock/echo'));
    const signatures = gateway.simulator.calls.map(
      ({ headers }) => String(headers.authorization).split('Signature=')[1],
    );
    expect(new Set(signatures).size).toBe(2);
  });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** As AWS describes it, without a line of the SDK. */
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

describe('the signature of a call', () => {
  const runtime = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
  it.each([
    ['bedrock', `${runtime}/openai/v1/chat/completions`],
    ['bedrock', `${runtime}/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse`],
    [
      'bedrock',
      `${runtime}/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fabc/converse-stream`,
    ],
    ['bedrock-mantle', 'https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages?beta=true&a=%20b&a=1'],
    ['vertex', 'https://provider.example/v1/models/gemini:streamGenerateContent?alt=sse'],
  ])('for %s covers path, query, headers and body of %s', async (service, address) => {
    const auth = { sigv4: { service, region: 'eu-west-1' } };
    const url = new URL(address);
    const body = JSON.stringify({ text: 'ä' });
    const credential = signing(true).find({ auth } as ProviderDocument);
    const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
    const { authorization = '', ...sent } = (await credential?.sign?.({ url, headers, body })) ?? {};
    const [, scope = '', names = '', signature] =
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(authorization) ??
      [];
    expect(scope).toMatch(new RegExp(`^\\d{8}/eu-west-1/${service}/aws4_request$`));
    expect(names.split(';')).toEqual(expect.arrayContaining(['anthropic-version', 'content-type', 'host']));
    const signed = Object.fromEntries(names.split(';').map((name) => [name, sent[name] ?? '']));
    expect(signatureOf(url, signed, body, scope)).toBe(signature);
  });
});

describe('where no call can be signed', () => {
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
