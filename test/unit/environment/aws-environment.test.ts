import { describe, expect, it } from '@jest/globals';
import { readAwsCredentials, readEnvironment } from '../../../shared/foundation/environment/index.ts';

const stage = { GW_STAGE: 'dev' };

describe('the environment of a function', () => {
  it('names nothing of AWS where no variable does, whatever the region', () => {
    expect(readEnvironment({ ...stage, AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: '' }).aws).toBeUndefined();
  });

  it.each([
    ['GW_SPILL_BUCKET', 'spillBucket', 'gw-dev-spill'],
    ['GW_BYOK_KEY_ID', 'byokKeyId', 'alias/gw-dev'],
    ['GW_PROVIDER_SECRET', 'providerSecret', 'gw/dev/providers'],
  ] as const)('names with %s what it names, and nothing else', (variable, member, value) => {
    const others = { spillBucket: undefined, byokKeyId: undefined, providerSecret: undefined };
    expect(readEnvironment({ ...stage, AWS_REGION: 'eu-west-1', [variable]: value }).aws).toEqual({
      region: 'eu-west-1',
      endpoints: { kms: undefined, s3: undefined, secretsManager: undefined },
      ...others,
      [member]: value,
    });
  });

  it.each([
    ['AWS_REGION', {}],
    ['AWS_REGION', { AWS_REGION: 'evil.example/' }],
    ['GW_SPILL_BUCKET', { AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: 'a.b.example' }],
    ['AWS_ENDPOINT_URL_S3', { AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_S3: 'file:///etc' }],
  ])('stops the start over a bad %s, by its name and without its value', (variable, variables) => {
    const read = () => readEnvironment({ ...stage, GW_PROVIDER_SECRET: 'gw/dev/providers', ...variables });
    expect(read).toThrow(variable);
    expect(read).not.toThrow(/evil|example|etc/);
  });
});

describe('the credentials of the process', () => {
  it('are those of the variables, with a session token only where there is one', () => {
    const key = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(readAwsCredentials(key)).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: undefined });
    expect(readAwsCredentials({ ...key, AWS_SESSION_TOKEN: 'token' }).sessionToken).toBe('token');
  });

  it('are missed by name', () => {
    expect(() => readAwsCredentials({ AWS_ACCESS_KEY_ID: 'id' })).toThrow('AWS_SECRET_ACCESS_KEY');
  });
});
