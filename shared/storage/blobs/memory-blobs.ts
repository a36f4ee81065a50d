// Blobs of a run without a data folder: gone with the process, and the oldest go first when memory is full.
import { type BlobStore, checkBlobKey } from './blob-store.ts';

/** Some hundred results of the size that spills; a local run has far more memory than this. */
const memoryBlobsMaxBytes = 64 * 1024 * 1024;

export function memoryBlobs(maxBytes = memoryBlobsMaxBytes): BlobStore {
  /** A Map keeps the order of insertion: the first entry is the oldest. */
  const blobs = new Map<string, Uint8Array>();
  let totalBytes = 0;

  function remove(key: string): void {
    totalBytes -= blobs.get(key)?.byteLength ?? 0;
    blobs.delete(key);
  }

  return {
    async put(key, bytes) {
      checkBlobKey(key);
      if (bytes.byteLength > maxBytes) throw new RangeError(`a blob of ${bytes.byteLength} bytes exceeds the memory`);
      remove(key);
      // A copy: the caller may use its buffer again.
      blobs.set(key, bytes.slice());
      totalBytes += bytes.byteLength;
      for (const oldest of blobs.keys()) {
        if (totalBytes <= maxBytes) break;
        remove(oldest);
      }
    },
    async get(key) {
      checkBlobKey(key);
      return blobs.get(key)?.slice();
    },
  };
}
