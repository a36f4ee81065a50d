// SHA-256 for the signer. OpenSSL makes a key out of the bytes of a secret each time, which is seven times the work of the
// hash itself, and each signature needs the same two secrets. So their keys are kept.
import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** What a signer takes as text or bytes; it never passes a bare ArrayBuffer. */
type Source = string | ArrayBuffer | ArrayBufferView;

interface Hashing {
  update(source: Source): void;
  digest(): Promise<Uint8Array>;
}

/** One of its own per signer: it remembers the last secret that came as text, the access key's. */
export function createSha256(): new (secret?: Source) => Hashing {
  const keysOfBytes = new WeakMap<object, KeyObject>();
  let ofText: { readonly text: string; readonly key: KeyObject } | undefined;

  function keyOf(secret: Source): KeyObject {
    if (typeof secret === 'string') {
      if (ofText?.text !== secret) ofText = { text: secret, key: createSecretKey(secret, 'utf8') };
      return ofText.key;
    }
    const key = keysOfBytes.get(secret) ?? createSecretKey(bytesOf(secret));
    keysOfBytes.set(secret, key);
    return key;
  }

  return class Sha256 {
    readonly #hash;
    constructor(secret?: Source) {
      this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', keyOf(secret));
    }
    update(source: Source): void {
      this.#hash.update(typeof source === 'string' ? source : bytesOf(source));
    }
    async digest(): Promise<Uint8Array> {
      return this.#hash.digest();
    }
  };
}

const bytesOf = (source: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
