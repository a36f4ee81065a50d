// Stores blobs as objects of one bucket. Without the right to list the bucket S3 answers 403, not 404, for an object
// that does not exist. That right is not requested, because a blob outlives every record that names it by a day.
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type AttemptOptions, type AwsAccess, awsClientSettings, callWithAttempts } from '../aws-clients/index.ts';

/**
 * Time limit of a write. It is enough for some megabytes from a small function. It is no longer, because the write
 * delays the end of a complete answer.
 */
const putTimeoutMs = 3_000;
/** Time limit of a read. With the call's other reads it fits into the time after which a call is refused. */
const getTimeoutMs = 1_500;
const socketsMax = 64;
/** Bound of answers without an object, such as errors. */
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
  /** Returns undefined if there is no object with this key. */
  get(key: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
}

/** Creates the client; no request is made yet. */
export function createS3Objects({ access, bucket, isBucketInPath, randomness, maxBytes }: S3ObjectsOptions): S3Objects {
  const client = new S3Client({
    ...awsClientSettings(access, { socketsMax, answerMaxBytes }),
    forcePathStyle: isBucketInPath,
    // The gateway checks objects against a hash of its own instead.
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

/** Reads the body; leaving the loop closes the connection. */
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
