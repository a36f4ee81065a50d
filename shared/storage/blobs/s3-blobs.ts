// Blobs as objects of a bucket, which deletes them by age. Without the right to list the bucket S3 answers 403, not 404,
// for an object that is gone; that right is not asked for, because a blob outlives every record that names it by a day.
import { AwsCallFailed, type AwsService } from '../aws-calls/index.ts';
import type { BlobStore } from './blob-store.ts';

/** The largest answer of a provider hardly shrinks when it is an image; a function of 512 MB holds it twice. */
export const blobMaxBytes = 32 * 1024 * 1024;
/** The key stands in the path as it is: path and signature must not differ by an escape. */
const objectKeyShape = /^[A-Za-z0-9_-]{1,128}$/;

export interface S3BlobsOptions {
  readonly s3: AwsService;
  /** Before the key: empty where the bucket is part of the host name. */
  readonly pathPrefix: string;
}

export function s3Blobs({ s3, pathPrefix }: S3BlobsOptions): BlobStore {
  const pathOf = (key: string): string => {
    if (!objectKeyShape.test(key)) throw new RangeError('a blob key is 1 to 128 letters, digits, "-" or "_"');
    return `${pathPrefix}/${key}`;
  };
  return {
    async put(key, bytes, { signal } = {}) {
      const path = pathOf(key);
      if (bytes.byteLength > blobMaxBytes) throw new RangeError(`a blob of over ${blobMaxBytes} bytes is not stored`);
      const headers = { 'content-type': 'application/octet-stream' };
      await s3.call({ method: 'PUT', path, headers, body: bytes }, signal);
    },
    async get(key, { signal } = {}) {
      try {
        return await s3.call({ method: 'GET', path: pathOf(key) }, signal);
      } catch (error) {
        if (error instanceof AwsCallFailed && error.code === 'NoSuchKey') return undefined;
        throw error;
      }
    },
  };
}
