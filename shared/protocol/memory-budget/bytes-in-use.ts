// Counts the bytes that all calls of a process keep, and decides whether more fit. A third is for small calls alone,
// and the large calls of one key have at most half of the rest.
import type { Space } from './waiting-line.ts';

/** A call is small until more than this is kept for it. */
const largeCallBytes = 64 * 1024;

/** Bytes of one call. */
export interface Owner {
  keyId: string | undefined;
  bytesInUse: number;
  /** Unread bytes of its answer, usually a part of the kept ones. */
  unreadBytes: number;
  /** The more of the two, as it is counted. */
  bytes: number;
}

const noOwners: ReadonlySet<Owner> = new Set();

export const isLarge = (bytes: number): boolean => bytes > largeCallBytes;
const largeBytesOf = (bytes: number): number => (isLarge(bytes) ? bytes : 0);

export class BytesInUse {
  bytes = 0;
  readonly #maxBytes: number;
  readonly #largeMaxBytes: number;
  readonly #keyMaxBytes: number;
  #largeBytes = 0;
  /** Keys with a large call only. */
  readonly #largeBytesOfKeys = new Map<string, number>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#largeMaxBytes = Math.floor((maxBytes * 2) / 3);
    this.#keyMaxBytes = Math.floor(this.#largeMaxBytes / 2);
  }

  /** `without`: calls whose bytes count as released. */
  space({ bytes, keyId }: Owner, addedBytes: number, without: ReadonlySet<Owner> = noOwners): Space {
    let [ofAll, ofLarge, ofKey] = [this.bytes, this.#largeBytes, this.#ofKey(keyId)];
    for (const one of without) {
      ofAll -= one.bytes;
      ofLarge -= largeBytesOf(one.bytes);
      if (keyId !== undefined && one.keyId === keyId) ofKey -= largeBytesOf(one.bytes);
    }
    if (!isLarge(bytes + addedBytes)) return ofAll + addedBytes <= this.#maxBytes ? 'free' : 'none';
    const largeBytes = largeBytesOf(bytes);
    // A call larger than all of it may be the only one.
    if (ofLarge === largeBytes) return 'free';
    if (ofLarge - largeBytes + bytes + addedBytes > this.#largeMaxBytes || ofAll + addedBytes > this.#maxBytes)
      return 'none';
    const ofOthers = keyId === undefined ? 0 : ofKey - largeBytes;
    return ofOthers === 0 || ofOthers + bytes + addedBytes <= this.#keyMaxBytes ? 'free' : 'none_for_key';
  }

  /** Returns by how much more it counts than before. */
  count(owner: Owner): number {
    const formerBytes = owner.bytes;
    owner.bytes = Math.max(owner.bytesInUse, owner.unreadBytes);
    this.bytes += owner.bytes - formerBytes;
    const addedLargeBytes = largeBytesOf(owner.bytes) - largeBytesOf(formerBytes);
    this.#largeBytes += addedLargeBytes;
    this.#addOfKey(owner.keyId, addedLargeBytes);
    return owner.bytes - formerBytes;
  }

  /** Applies to the bytes that it keeps already, too. */
  nameKey(owner: Owner, keyId: string): void {
    owner.keyId = keyId;
    this.#addOfKey(keyId, largeBytesOf(owner.bytes));
  }

  #ofKey(keyId: string | undefined): number {
    return keyId === undefined ? 0 : (this.#largeBytesOfKeys.get(keyId) ?? 0);
  }

  #addOfKey(keyId: string | undefined, addedLargeBytes: number): void {
    if (keyId === undefined || addedLargeBytes === 0) return;
    const bytes = this.#ofKey(keyId) + addedLargeBytes;
    if (bytes > 0) this.#largeBytesOfKeys.set(keyId, bytes);
    else this.#largeBytesOfKeys.delete(keyId);
  }
}
