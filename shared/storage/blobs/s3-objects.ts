// Objects of one bucket. Without the right to list the bucket S3 answers 403, not 404, for an object that does not
// exist; that right is not asked for, because a blob outlives every record that names it by a day.
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type AttemptOptions, type AwsAccess, awsClientSettings, callWithAttempts } from '../aws-clients/index.ts';

/** Time for some megabytes at the pace of a small function. It delays the end of a complete answer, so not longer. */
const putTimeoutMs = 3_000;
/** Within the time that a call has before it is refused, with its other reads. */
const getTimeoutMs = 1_500;
const socketsMax = 64;
/** Bound of answers that are no object: errors. */
const answerMaxBytes = 64 * 1024;

export interface S3ObjectsOptions {
  readonly access: AwsAccess;
  readonly bucket: string;
  readonly isBucketInPath: boolean;
  readonly randomness: Randomness;
  readonly maxBytes: number;
}

export interface S3Objects {
  put(key: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** Returns undefined when there is no such object. */
  get(key: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
}

/** Calls nothing yet. */
export function createS3Objects({ access, bucket, isBucketInPath, randomness, maxBytes }: S3ObjectsOptions): S3Objects {
  const client = new S3Client({
    ...awsClientSettings(access, { socketsMax, answerMaxBytes }),
    forcePathStyle: isBucketInPath,
    // Checked against a hash of the gateway's own instead.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const attempts = (limitMs: number, callerSignal: AbortSignal | undefined): AttemptOptions => {
    const { clock } = access;
    return { clock, randomness, limitMs, kind: 'repeatable', callerSignal };
  };
  return {
    async put(key, bytes, signal) {
      const input = { Bucket: bucket, Key: key, Body: bytes, ContentType: 'application/octet-stream' };
      await callWithAttempts(attempts(putTimeoutMs, signal), (abortSignal) =>
        client.send(new PutObjectCommand(input), { abortSignal }),
      );
    },
    get: (key, signal) =>
      callWithAttempts(attempts(getTimeoutMs, signal), async (abortSignal) => {
        try {
          const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal });
          return await readBytes(Body as AsyncIterable<Uint8Array>, maxBytes);
        } catch (error) {
          if (error instanceof NoSuchKey) return undefined;
          throw error;
        }
      }),
  };
}

/** Leaving the loop closes the connection. */
async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.byteLength;
    if (bytes > maxBytes) throw new RangeError(`an object of over ${maxBytes} bytes is not read`);
    parts.push(part);
  }
  return Buffer.concat(parts, bytes);
}
