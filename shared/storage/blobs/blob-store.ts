// Defines the storage for bytes that do not fit into an item. Keys are names chosen by the gateway, the value of a key
// never changes, and callers never delete: blobs expire by age, which the prefix of the name determines.

import { createCache } from '../../foundation/cache/index.ts';
import { contentKeeps, contentPrefixOf, daysOf, resultLifeDays } from '../../foundation/constants/index.ts';
import { type Clock, dayMs, systemClock } from '../../foundation/time/index.ts';

/** Returns the lifetime of a blob with this name. */
export function blobLifeMs(key: string): number {
  const keep = contentKeeps.find((one) => key.startsWith(contentPrefixOf(one)));
  return dayMs * (keep === undefined ? resultLifeDays : daysOf(keep));
}

/** Matches keys that are safe as a file name, as a URL path and as an object key. */
const blobKeyPattern = /^[A-Za-z0-9_-]{1,128}$/;

export interface BlobCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Every call ends within a limit of the implementation, and rejects when the storage cannot be reached. Readers check
 * the bytes against a hash of their own, because a store may lose or damage them.
 */
export interface BlobStore {
  /**
   * Resolves once every reader can get the bytes. The same bytes may be put again under their key; other bytes under
   * a used key are a mistake of the caller.
   */
  put(key: string, bytes: Uint8Array, options?: BlobCallOptions): Promise<void>;
  /** Returns undefined if there is no value, or if it has expired. */
  get(key: string, options?: BlobCallOptions): Promise<Uint8Array | undefined>;
  /** Deletes expired blobs; undefined if the storage does so by itself. Never rejects. */
  readonly sweep?: (() => Promise<void>) | undefined;
}

/** Blobs live for days, so an hour's delay does no harm. */
const sweepEveryMs = 60 * 60 * 1_000;

/** Sweeps now and every hour, until the returned function is called. */
export function sweepHourly({ sweep }: Pick<BlobStore, 'sweep'>, clock: Clock): () => void {
  if (sweep === undefined) return () => {};
  let cancel = () => {};
  const next = () => {
    void sweep();
    cancel = clock.after(sweepEveryMs, next);
  };
  next();
  return () => cancel();
}

/** Throws a RangeError for a key that some storage could not accept. */
export function checkBlobKey(key: string): void {
  if (!blobKeyPattern.test(key)) throw new RangeError('a blob key is 1 to 128 letters, digits, "-" or "_"');
}

// Stores blobs of a process without a data folder. They end with the process, and the oldest are dropped when the bound
// is reached.

/**
 * Bound of all blobs in memory, which are some hundred results of the size that does not fit into an item. A local run
 * has far more memory than this.
 */
const memoryBlobsMaxBytes = 64 * 1024 * 1024;

export function memoryBlobs(maxBytes = memoryBlobsMaxBytes, clock: Clock = systemClock): BlobStore {
  const blobs = createCache<{ readonly bytes: Uint8Array; readonly endsAtMs: number }>({ sizeMax: maxBytes });
  return {
    async put(key, bytes) {
      checkBlobKey(key);
      if (bytes.byteLength > maxBytes) throw new RangeError(`a blob of ${bytes.byteLength} bytes exceeds the memory`);
      // The bytes are copied, because the caller may reuse its buffer. The cache requires sizes of at least 1.
      const blob = { bytes: bytes.slice(), endsAtMs: clock.nowMs() + blobLifeMs(key) };
      blobs.set(key, blob, { size: Math.max(1, bytes.byteLength) });
    },
    async get(key) {
      checkBlobKey(key);
      return blobs.peek(key)?.bytes.slice();
    },
    async sweep() {
      const nowMs = clock.nowMs();
      for (const [key, { endsAtMs }] of [...blobs.entries()]) if (endsAtMs <= nowMs) blobs.delete(key);
    },
  };
}
