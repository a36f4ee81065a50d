import { describe, expect, it } from '@jest/globals';
import { createAwsAdapters } from '../../../shared/composition/create-aws-adapters.ts';
import { SealBroken } from '../../../shared/configuration/byok/index.ts';
import type { ProviderDocument } from '../../../shared/configuration/catalogue/index.ts';
import { readEnvironment } from '../../../shared/foundation/environment/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { createLog } from '../../../shared/foundation/log/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { awsOrigin } from '../../../shared/storage/aws-calls/index.ts';
import { fakeS3, identity, startFakeAws } from '../../support/fake-aws.ts';

const context = { workspace: 'team-a', connection: 'acme', stage: 'dev' };

function adaptersOf(variables: Record<string, string>) {
  const lines: string[] = [];
  const adapters = createAwsAdapters({
    environment: readEnvironment({ GW_STAGE: 'dev', ...variables }),
    clock: systemClock,
    randomness: systemRandomness,
    log: createLog({ clock: systemClock, write: (line) => lines.push(line) }),
  });
  return { ...adapters, lines };
}

/** Whatever AWS is called for here would be a failure that is neither of those that are expected. */
const unreachable = { AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_KMS: 'http://127.0.0.1:1' };

describe.each([
  ['nothing of AWS is named', {}],
  ['only a bucket is named', { ...unreachable, GW_SPILL_BUCKET: 'gw-dev-spill' }],
])('where %s', (_case, variables) => {
  it('no stored connection opens, and none can be sealed', async () => {
    const { wrapper } = adaptersOf(variables);
    await expect(wrapper.unwrap(new Uint8Array(40), context)).rejects.toBeInstanceOf(SealBroken);
    await expect(wrapper.createDataKey(context)).rejects.toThrow('there is no BYOK key');
  });

  it('credentials are variables of the process, at once', async () => {
    const { credentials, lines } = adaptersOf(variables);
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
    const { blobs } = adaptersOf({});
    await expect(blobs.put('key', new Uint8Array(1))).rejects.toBeInstanceOf(RangeError);
    expect(await blobs.get('key')).toBeUndefined();
  });
});

describe('calls to AWS itself', () => {
  it.each([
    ['kms', 'eu-west-1', 'https://kms.eu-west-1.amazonaws.com/'],
    ['gw-dev-spill.s3', 'us-east-1', 'https://gw-dev-spill.s3.us-east-1.amazonaws.com/'],
    ['secretsmanager', 'cn-north-1', 'https://secretsmanager.cn-north-1.amazonaws.com.cn/'],
  ])('go to the host of %s in %s', (host, region, url) => {
    expect(awsOrigin(host, region).href).toBe(url);
  });

  it('are signed with the credentials that the process has at that moment', async () => {
    const former = { ...process.env };
    const fake = await startFakeAws(fakeS3('gw-dev-spill'));
    try {
      const place = { AWS_REGION: 'eu-west-1', AWS_ENDPOINT_URL_S3: fake.url.href, GW_SPILL_BUCKET: 'gw-dev-spill' };
      const { blobs } = adaptersOf(place);
      process.env.AWS_ACCESS_KEY_ID = identity.accessKeyId;
      process.env.AWS_SECRET_ACCESS_KEY = identity.secretAccessKey;
      process.env.AWS_SESSION_TOKEN = identity.sessionToken;
      await blobs.put('key', Buffer.from('bytes'));
      expect(await blobs.get('key')).toEqual(Buffer.from('bytes'));
    } finally {
      fake.stop();
      process.env = former;
    }
  });
});
