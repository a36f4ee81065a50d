// Defines the format of a key: `sk-gw-<16 base62 public id>-<43 base62 secret><6 base62 checksum>`. Pattern and
// checksum are checked before any I/O, so a mistyped or guessed key costs nothing.
import { crc32 } from 'node:zlib';
import { type Randomness, sha256Hex } from '../../foundation/ids/index.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const publicIdLength = 16;
const secretLength = 43;
const checksumLength = 6;
const keyPattern = /^sk-gw-([0-9A-Za-z]{16})-([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

export interface ApiKey {
  /** The table key, which is safe to log. */
  readonly publicId: string;
  readonly secretSha256: string;
}

/** Parses a whole key; undefined for a wrong form or checksum. */
export function parseApiKey(text: string): ApiKey | undefined {
  const match = keyPattern.exec(text);
  if (match === null) return undefined;
  const [, publicId = '', secret = '', checksum] = match;
  if (checksumOf(text.slice(0, -checksumLength)) !== checksum) return undefined;
  return { publicId, secretSha256: sha256Hex(secret) };
}

/**
 * Makes a new key. The text is shown once and never stored. `cell` is the prefix of its public id, two characters of a
 * stage for an edge that chooses among several; no gateway reads these characters.
 */
export function createApiKey(randomness: Randomness, cell = ''): string {
  const publicId = cell + base62(randomness, publicIdLength - cell.length);
  const unsigned = `sk-gw-${publicId}-${base62(randomness, secretLength)}`;
  return unsigned + checksumOf(unsigned);
}

/** Returns a new key with its stored parts. */
export function newApiKey(randomness: Randomness, cell?: string): ApiKey & { readonly text: string } {
  const text = createApiKey(randomness, cell);
  const parsed = parseApiKey(text);
  if (parsed === undefined) throw new Error('a key that was just made must be readable');
  return { ...parsed, text };
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (rest > 0) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits.padStart(checksumLength, '0');
}

/**
 * 248 is the largest multiple of 62 in a byte. Higher values are drawn again, so that every digit is equally likely.
 */
const unbiasedBelow = 248;

function base62(randomness: Randomness, length: number): string {
  let digits = '';
  while (digits.length < length) {
    for (const byte of randomness.bytes(length)) {
      if (byte < unbiasedBelow && digits.length < length) digits += alphabet[byte % alphabet.length];
    }
  }
  return digits;
}
