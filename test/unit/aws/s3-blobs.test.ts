import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answering, fakeS3 } from '../../support/fake-aws.ts';
import { type FakeStage, fakeStage } from './support.ts';

const bucket = 'gw-dev-spill';
const key = 'a'.repeat(64);
const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);

let answering: Answering;
let stage: FakeStage;
beforeAll(async () => {
  stage = await fakeStage((...request) => answering(...request), { GW_SPILL_BUCKET: bucket });
});
afterAll(() => stage.fake.stop());

describe('blobs in S3', () => {
  it('come back byte for byte, and may be put again', async () => {
    answering = fakeS3(bucket);
    await stage.blobs.put(key, bytes);
    await stage.blobs.put(key, bytes);
    expect(await stage.blobs.get(key)).toEqual(Buffer.from(bytes));
    expect(stage.fake.received.at(-1)).toMatchObject({ method: 'GET', target: `/${bucket}/${key}` });
  });

  it('are undefined where nothing stands', async () => {
    answering = fakeS3(bucket);
    expect(await stage.blobs.get('never-put')).toBeUndefined();
  });

  it.each([
    ['the bucket is not there', 404, 'NoSuchBucket'],
    ['the function may not', 403, 'AccessDenied'],
  ])('reject, and are not simply absent, when %s', async (_case, status, code) => {
    answering = () => ({ status, body: `<Error><Code>${code}</Code><Message>hunter2</Message></Error>` });
    await expect(stage.blobs.get(key)).rejects.toThrow(`s3 answered ${status} ${code}`);
    await expect(stage.blobs.put(key, bytes)).rejects.toThrow(`s3 answered ${status} ${code}`);
  });

  it.each(['', 'a/b', '..', 'ä', 'a'.repeat(129)])('take no key %j, and S3 is not asked', async (strange) => {
    const before = stage.fake.received.length;
    await expect(stage.blobs.put(strange, bytes)).rejects.toBeInstanceOf(RangeError);
    await expect(stage.blobs.get(strange)).rejects.toBeInstanceOf(RangeError);
    expect(stage.fake.received).toHaveLength(before);
  });

  it('larger than what could be read again are refused, and S3 is not asked', async () => {
    const before = stage.fake.received.length;
    await expect(stage.blobs.put(key, new Uint8Array(32 * 1024 * 1024 + 1))).rejects.toBeInstanceOf(RangeError);
    expect(stage.fake.received).toHaveLength(before);
  });

  it('end when the caller gives up', async () => {
    answering = () => 'hang';
    const caller = new AbortController();
    const asked = stage.blobs.get(key, { signal: caller.signal });
    await stage.fake.nextRequest();
    caller.abort(new Error('given up'));
    await expect(asked).rejects.toThrow('given up');
  });
});
