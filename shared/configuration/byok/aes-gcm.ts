// Encrypts with AES-256-GCM, bound to a text (additional authenticated data), so that a value that was encrypted for
// one place cannot be decrypted elsewhere.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Randomness } from '../../foundation/ids/index.ts';

const algorithm = 'aes-256-gcm';
export const keyBytes = 32;
/**
 * 96 bits, the standard size for GCM. The iv is random. Every data key encrypts one text, so an iv cannot repeat under
 * a key.
 */
const ivBytes = 12;
/**
 * Length of the tag, which is passed explicitly, because Node would otherwise accept a truncated tag, which can be
 * guessed.
 */
const tagBytes = 16;

export interface EncryptedText {
  readonly iv: Uint8Array;
  readonly tag: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** Thrown when the bytes were changed, moved from their place, or encrypted with another key. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  /** `wrappedBy` is the master key that the sealed key names. */
  constructor(wrappedBy?: string) {
    const wrapperNote = wrappedBy === undefined ? '' : ` (it names ${wrappedBy})`;
    super(`a sealed key does not open: it was changed, moved, or sealed under another master key${wrapperNote}`);
  }
}

export function encrypt(key: Uint8Array, clear: Uint8Array, boundTo: string, randomness: Randomness): EncryptedText {
  const iv = randomness.bytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(boundTo));
  const ciphertext = Buffer.concat([cipher.update(clear), cipher.final()]);
  return { iv, tag: cipher.getAuthTag(), ciphertext };
}

/** Decrypts. Throws SealBroken without a cause, which could only say which byte is wrong. */
export function decrypt(key: Uint8Array, { iv, tag, ciphertext }: EncryptedText, boundTo: string): Buffer {
  try {
    const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(boundTo)).setAuthTag(tag);
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  } catch {
    throw new SealBroken();
  }
}

/** Joins the parts of a wrapped key, which is stored as one sequence of bytes: iv, tag, ciphertext. */
export const joinEncrypted = ({ iv, tag, ciphertext }: EncryptedText): Uint8Array =>
  Buffer.concat([iv, tag, ciphertext]);

export const splitEncrypted = (bytes: Uint8Array): EncryptedText => ({
  iv: bytes.subarray(0, ivBytes),
  tag: bytes.subarray(ivBytes, ivBytes + tagBytes),
  ciphertext: bytes.subarray(ivBytes + tagBytes),
});
