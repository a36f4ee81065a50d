import { afterAll, beforeAll, describe, expect, it } from '#jest';
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
