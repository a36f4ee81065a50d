// Blobs as objects of a bucket, which deletes them by age. The S3 client is loaded with the first call, from a file of
// its own next to the bundle, because few calls need it.
import { once } from '../../foundation/cache/index.ts';
import { type BlobStore, checkBlobKey } from './blob-store.ts';
import type { S3Objects, S3ObjectsOptions } from './s3-objects.ts';

/**
 * Bound of a blob. The largest answer of a provider hardly shrinks if it is an image, and a function of 512 MB has
 * memory for two such blobs.
 */
const blobMaxBytes = 32 * 1024 * 1024;

export function s3Blobs(options: Omit<S3ObjectsOptions, 'maxBytes'>): BlobStore {
  const objects = once(async (): Promise<S3Objects> => {
    const { createS3Objects } = await import('./s3-objects.ts');
    return createS3Objects({ ...options, maxBytes: blobMaxBytes });
  });
  return {
    async put(key, bytes, { signal } = {}) {
      checkBlobKey(key);
      if (bytes.byteLength > blobMaxBytes) throw new RangeError(`a blob of over ${blobMaxBytes} bytes is not stored`);
      await (await objects()).put(key, bytes, signal);
    },
    async get(key, { signal } = {}) {
      checkBlobKey(key);
      return (await objects()).get(key, signal);
    },
  };
}
