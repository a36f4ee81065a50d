import { describe, expect, it } from '#jest';
import { hasAwsCredentials, readEnvironment, readRegion } from '../../../shared/foundation/environment/index.ts';

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
      isBucketInPath: false,
      ...others,
      [member]: value,
    });
  });

  it.each([
    ['AWS_REGION', {}],
    ['AWS_REGION', { AWS_REGION: 'evil.example/' }],
    ['GW_SPILL_BUCKET', { AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: 'a.b.example' }],
  ])('stops the start over a bad %s, by its name and without its value', (variable, variables) => {
    const read = () => readEnvironment({ ...stage, GW_PROVIDER_SECRET: 'gw/dev/providers', ...variables });
    expect(read).toThrow(variable);
    expect(read).not.toThrow(/evil|example|etc/);
  });
});

describe('the bucket', () => {
  it.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3'])('stands in the path where %s names a server', (variable) => {
    const variables = { ...stage, AWS_REGION: 'eu-west-1', GW_SPILL_BUCKET: 'gw-dev-spill', [variable]: 'http://s3' };
    expect(readEnvironment(variables).aws).toMatchObject({ isBucketInPath: true });
  });
});

describe('the region of the process', () => {
  it('is that of AWS_REGION', () => {
    expect(readRegion({ AWS_REGION: 'us-gov-west-1' })).toBe('us-gov-west-1');
  });

  it.each([{}, { AWS_REGION: 'evil.example/' }])(
    'is missed by name in %j, and its value is not repeated',
    (variables) => {
      expect(() => readRegion(variables)).toThrow('AWS_REGION');
      expect(() => readRegion(variables)).not.toThrow(/evil/);
    },
  );
});

describe('the credentials of the process', () => {
  it.each([
    { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
    { AWS_PROFILE: 'operator' },
    { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.23/v1/credentials' },
    { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/credentials' },
    { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/gw' },
  ])('are named by %j', (variables: Record<string, string>) => {
    expect(hasAwsCredentials(variables)).toBe(true);
  });

  it.each([{}, { AWS_ACCESS_KEY_ID: 'id' }, { AWS_ROLE_ARN: 'arn' }, { AWS_PROFILE: '' }])(
    'are not named by %j',
    (variables: Record<string, string>) => {
      expect(hasAwsCredentials(variables)).toBe(false);
    },
  );
});
