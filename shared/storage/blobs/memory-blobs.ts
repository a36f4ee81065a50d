// Blobs of a run without a data folder: they end with the process, and the oldest are dropped when the bound is reached.
import { LRUCache } from 'lru-cache';
import { type BlobStore, checkBlobKey } from './blob-store.ts';

/** Some hundred results of the size that spills; a local run has far more memory than this. */
const memoryBlobsMaxBytes = 64 * 1024 * 1024;

export function memoryBlobs(maxBytes = memoryBlobsMaxBytes): BlobStore {
  const blobs = new LRUCache<string, Uint8Array>({
    maxSize: maxBytes,
    // The library counts sizes from 1.
    sizeCalculation: ({ byteLength }) => Math.max(1, byteLength),
  });
  return {
    async put(key, bytes) {
      checkBlobKey(key);
      if (bytes.byteLength > maxBytes) throw new RangeError(`a blob of ${bytes.byteLength} bytes exceeds the memory`);
      // A copy: the caller may use its buffer again.
      blobs.set(key, bytes.slice());
    },
    async get(key) {
      checkBlobKey(key);
      return blobs.peek(key)?.slice();
    },
  };
}
