import { Readable } from 'node:stream';
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '#jest';
import {
  answer,
  type ScriptedBehaviour,
  type ScriptedServer,
  startScriptedServer,
} from '../../support/scripted-server.ts';
import { testStage } from './test-stage.ts';

const bucket = 'gw-dev-spill';
const key = 'a'.repeat(64);
const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);
const maxBytes = 32 * 1024 * 1024;

describe('blobs in S3', () => {
  const { blobs } = testStage({ GW_SPILL_BUCKET: bucket });
  const s3 = mockClient(S3Client);
  afterAll(() => s3.restore());
  beforeEach(() => {
    s3.reset();
    const objects = new Map<string, Uint8Array>();
    s3.on(PutObjectCommand, { Bucket: bucket }).callsFake(async ({ Key, Body }) => {
      objects.set(Key, Body.slice());
      return {};
    });
    s3.on(GetObjectCommand, { Bucket: bucket }).callsFake(async ({ Key }) => {
      const object = objects.get(Key);
      if (object === undefined) throw new NoSuchKey({ message: 'not there', $metadata: {} });
      return { Body: Readable.from([object.subarray(0, 10), object.subarray(10)]) };
    });
  });

  it('come back byte for byte, and may be put again', async () => {
    await blobs.put(key, bytes);
    await blobs.put(key, bytes);
    expect(await blobs.get(key)).toEqual(Buffer.from(bytes));
  });

  it('are undefined if there is no object', async () => {
    expect(await blobs.get('never-put')).toBeUndefined();
  });

  it.each(['', 'a/b', '..', 'ä', 'a'.repeat(129)])('take no key %j, and S3 is not asked', async (strange) => {
    await expect(blobs.put(strange, bytes)).rejects.toBeInstanceOf(RangeError);
    await expect(blobs.get(strange)).rejects.toBeInstanceOf(RangeError);
    expect(s3.calls()).toHaveLength(0);
  });

  it('larger than what could be read again are refused, and S3 is not asked', async () => {
    await expect(blobs.put(key, new Uint8Array(maxBytes + 1))).rejects.toBeInstanceOf(RangeError);
    expect(s3.calls()).toHaveLength(0);
  });

  it('that grew too large elsewhere are not read to their end', async () => {
    let pieces = 0;
    const endless = async function* () {
      for (;;) {
        pieces += 1;
        yield new Uint8Array(1024 * 1024);
      }
    };
    s3.on(GetObjectCommand).callsFake(async () => ({ Body: Readable.from(endless(), { highWaterMark: 1 }) }));
    await expect(blobs.get(key)).rejects.toBeInstanceOf(RangeError);
    expect(pieces).toBeLessThan(maxBytes / (1024 * 1024) + 5);
  });
});

describe('the bucket, over HTTP', () => {
  const formerEndpoint = process.env.AWS_ENDPOINT_URL_S3;
  let server: ScriptedServer | undefined;
  afterEach(async () => {
    process.env.AWS_ENDPOINT_URL_S3 = formerEndpoint ?? '';
    await server?.stop();
  });

  async function blobsAt(...behaviours: [ScriptedBehaviour, ...ScriptedBehaviour[]]) {
    const started = await startScriptedServer(behaviours);
    server = started;
    process.env.AWS_ENDPOINT_URL_S3 = started.endpoint;
    const variables = { GW_SPILL_BUCKET: bucket, AWS_ENDPOINT_URL_S3: started.endpoint };
    return { server: started, blobs: testStage(variables).blobs };
  }

  it('is in the path if a server takes the place of AWS', async () => {
    const { server, blobs } = await blobsAt(answer('text'));
    await blobs.put(key, Buffer.from('text'));
    expect(await blobs.get(key)).toEqual(Buffer.from('text'));
    expect(server.requests.map(({ method, path }) => [method, path.split('?')[0]])).toEqual([
      ['PUT', `/${bucket}/${key}`],
      ['GET', `/${bucket}/${key}`],
    ]);
    expect(server.requests[0]?.body).toBe('text');
  });

  it.each([
    ['is not there', 404, 'NoSuchBucket'],
    ['may not be used', 403, 'AccessDenied'],
  ])('that %s rejects, and blobs are not simply absent', async (_case, status, code) => {
    const { server, blobs } = await blobsAt({ status, body: `<Error><Code>${code}</Code></Error>` });
    await expect(blobs.get(key)).rejects.toMatchObject({ name: code });
    await expect(blobs.put(key, bytes)).rejects.toMatchObject({ name: code });
    expect(server.requests).toHaveLength(2);
  });

  it('is asked again after a broken connection and after a fault of its own', async () => {
    const { server, blobs } = await blobsAt('lost', { status: 503, body: '' }, answer('text'));
    expect(await blobs.get(key)).toEqual(Buffer.from('text'));
    expect(server.requests).toHaveLength(3);
  });

  it('is not waited for when the caller gives up', async () => {
    const { server, blobs } = await blobsAt('silent');
    const caller = new AbortController();
    const read = blobs.get(key, { signal: caller.signal });
    await server.firstRequest;
    caller.abort(new Error('given up'));
    await expect(read).rejects.toThrow('given up');
  });
});
