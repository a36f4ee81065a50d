// Blobs of a run without a data folder: they end with the process, and the oldest are dropped when the bound is reached.
import { createCache } from '../../foundation/cache/index.ts';
import { type BlobStore, checkBlobKey } from './blob-store.ts';

/** Some hundred results of the size that spills; a local run has far more memory than this. */
const memoryBlobsMaxBytes = 64 * 1024 * 1024;

export function memoryBlobs(maxBytes = memoryBlobsMaxBytes): BlobStore {
  const blobs = createCache<Uint8Array>({ sizeMax: maxBytes });
  return {
    async put(key, bytes) {
      checkBlobKey(key);
      if (bytes.byteLength > maxBytes) throw new RangeError(`a blob of ${bytes.byteLength} bytes exceeds the memory`);
      // A copy: the caller may use its buffer again.
      // The cache counts sizes from 1.
      blobs.set(key, bytes.slice(), { size: Math.max(1, bytes.byteLength) });
    },
    async get(key) {
      checkBlobKey(key);
      return blobs.peek(key)?.slice();
    },
  };
}
