import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { SealBroken } from '../../../shared/configuration/byok/index.ts';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { answer, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';
import { awsIdentity, testStage } from './support.ts';

const context = { workspace: 'team-a', connection: 'acme', stage: 'dev' };

describe.each([
  ['nothing of AWS is named', {}],
  ['only a bucket is named', { GW_SPILL_BUCKET: 'gw-dev-spill' }],
])('where %s', (_case, variables: Record<string, string>) => {
  it('no stored connection opens, and none can be sealed', async () => {
    const { wrapper } = testStage(variables);
    await expect(wrapper.unwrap(new Uint8Array(40), context)).rejects.toBeInstanceOf(SealBroken);
    await expect(wrapper.createDataKey(context)).rejects.toThrow('there is no BYOK key');
  });

  it('credentials are variables of the process, at once', async () => {
    const { credentials, lines } = testStage(variables);
    await credentials.ready();
    await credentials.refresh();
    expect(credentials.find({ auth: { bearer: { env: 'PATH' } } } as ProviderDocument)).toEqual({
      authorization: `Bearer ${process.env.PATH}`,
    });
    expect(credentials.find({ auth: { bearer: { secret: 'acme' } } } as ProviderDocument)).toBeUndefined();
    expect(lines).toEqual([]);
  });
});

describe('where no bucket is named', () => {
  it('large results are not stored, in memory neither, and nothing is found', async () => {
    const { blobs } = testStage({});
    await expect(blobs.put('key', new Uint8Array(1))).rejects.toBeInstanceOf(RangeError);
    expect(await blobs.get('key')).toBeUndefined();
  });
});

describe('calls to the services of AWS', () => {
  const former = { ...process.env };
  let server: ScriptedServer;
  beforeEach(async () => {
    const dataKey = { Plaintext: Buffer.alloc(32).toString('base64'), CiphertextBlob: 'c2VhbGVk' };
    server = await startScriptedServer([answer({ ...dataKey, SecretString: '{}' })]);
  });
  afterEach(async () => {
    process.env = { ...former };
    await server.stop();
  });

  /** Each with what its signature names. */
  const services = [
    ['KMS', 'kms', { GW_BYOK_KEY_ID: 'alias/gw-dev' }],
    ['S3', 's3', { GW_SPILL_BUCKET: 'gw-dev-spill' }],
    ['SECRETS_MANAGER', 'secretsmanager', { GW_PROVIDER_SECRET: 'gw/dev/providers' }],
  ] as const;

  async function callAll(named: Readonly<Record<string, string>>, options = {}): Promise<void> {
    const { wrapper, blobs, credentials } = testStage(named, options);
    await credentials.ready();
    if ('GW_BYOK_KEY_ID' in named) await wrapper.createDataKey(context);
    if ('GW_SPILL_BUCKET' in named) await blobs.get('key');
  }

  it.each(services)('go where AWS_ENDPOINT_URL_%s says, signed for %s', async (name, service, named) => {
    process.env.AWS_ENDPOINT_URL = 'http://127.0.0.1:1';
    process.env[`AWS_ENDPOINT_URL_${name}`] = server.endpoint;
    await callAll({ ...named, AWS_ENDPOINT_URL: 'set' });
    expect(server.requests).toHaveLength(1);
    const { authorization, ...headers } = server.requests[0]?.headers ?? {};
    expect(authorization).toMatch(
      new RegExp(`^AWS4-HMAC-SHA256 Credential=${awsIdentity.accessKeyId}/\\d{8}/eu-west-1/${service}/aws4_request, `),
    );
    expect(headers['x-amz-security-token']).toBe(awsIdentity.sessionToken);
    expect(JSON.stringify(server.requests)).not.toContain(awsIdentity.secretAccessKey);
  });

  it('go where AWS_ENDPOINT_URL says, without one of their own', async () => {
    process.env.AWS_ENDPOINT_URL = server.endpoint;
    await callAll({ ...services[0][2], ...services[1][2], ...services[2][2], AWS_ENDPOINT_URL: server.endpoint });
    expect(server.requests).toHaveLength(3);
  });

  it('are signed with the credentials of the process where no others are given', async () => {
    process.env.AWS_ENDPOINT_URL = server.endpoint;
    process.env.AWS_ACCESS_KEY_ID = 'AKIAOFTHEPROCESS';
    process.env.AWS_SECRET_ACCESS_KEY = 'secret';
    delete process.env.AWS_PROFILE;
    await callAll(services[2][2], { awsCredentials: undefined });
    expect(server.requests[0]?.headers.authorization).toContain('Credential=AKIAOFTHEPROCESS/');
  });

  it('end in time when the credentials do not arrive', async () => {
    process.env.AWS_ENDPOINT_URL = server.endpoint;
    const clock = manualClock();
    const { wrapper } = testStage(services[0][2], { clock, awsCredentials: () => new Promise(() => {}) });
    const asked = wrapper.createDataKey(context);
    clock.advance(800);
    await expect(asked).rejects.toThrow('no answer within 800 ms');
    expect(server.requests).toHaveLength(0);
  });
});
