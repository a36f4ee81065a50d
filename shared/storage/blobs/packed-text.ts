// Compresses long texts that are stored, and is the only file that does. gzip is used because it makes a JSON answer as
// small as brotli in half the time, every tool can read it, and its checksum detects most damage.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { freeBytes, textOfBytes } from '../../foundation/heap/index.ts';
import { sha256Hex } from '../../foundation/ids/index.ts';

/** Bound of an unpacked text, which is four times the largest provider answer. */
const textMaxBytes = 64 * 1024 * 1024;

/** Bound of packed texts inside an item. DynamoDB refuses items over 400 KB, and other attributes need the rest. */
export const inlineMaxBytes = 300 * 1024;

interface PackedText {
  readonly bytes: Uint8Array;
  /** SHA-256 of the packed bytes, in hex. */
  readonly sha256: string;
}

/** Throws a RangeError for a text that could never be read back. */
export async function packText(text: string): Promise<PackedText> {
  if (Buffer.byteLength(text) > textMaxBytes) {
    throw new RangeError(`a text of over ${textMaxBytes} bytes is not stored`);
  }
  const bytes = await promisify(gzip)(text);
  return { bytes, sha256: sha256Hex(bytes) };
}

/**
 * Returns the length of the original text, which gzip stores in the last four bytes. A damaged text may state any
 * length, so it is believed up to the bound.
 */
export const textBytesIn = ({ buffer, byteOffset, byteLength }: Uint8Array): number =>
  byteLength < lengthBytes
    ? 0
    : Math.min(textMaxBytes, Buffer.from(buffer, byteOffset, byteLength).readUInt32LE(byteLength - lengthBytes));

const lengthBytes = 4;

/** Size of zlib's buffers for shorter texts. */
const chunkMinBytes = 64 * 1024;

/**
 * Returns undefined if the bytes differ from the packed bytes. Without `sha256` the caller proves them by another value
 * next to the text.
 */
export async function unpackText({ bytes, sha256 }: Partial<PackedText>): Promise<string | undefined> {
  if (bytes === undefined || (sha256 !== undefined && sha256Hex(bytes) !== sha256)) return undefined;
  try {
    // The whole text gets one buffer, because buffers of the usual size wait for their collection and take twice the
    // memory. The buffer has a further byte, because zlib allocates another one when it is full.
    const chunkSize = Math.max(chunkMinBytes, textBytesIn(bytes) + 1);
    const plain = await promisify(gunzip)(bytes, { maxOutputLength: textMaxBytes, chunkSize });
    const text = textOfBytes(plain);
    // Short texts are in a buffer that they share with others.
    if (plain.length >= chunkMinBytes) freeBytes(new Uint8Array(plain.buffer));
    return text;
  } catch {
    return undefined;
  }
}
