// Lists the encodings that bodies of requests and of answers may have.
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';

export interface Encoding {
  open(start: Buffer): Transform;
  /** True if bytes with this beginning can be in this encoding. Some servers name an encoding and send plain text. */
  canBegin?(start: Buffer): boolean;
}

const beginsWith =
  (...magic: readonly number[]) =>
  (start: Buffer) =>
    magic.every((byte, at) => start[at] === byte);
/** True for the `deflate` variant with a zlib header. */
const hasZlibHead = ([first = 0, second = 0]: Buffer) => (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;

/** Window of a decoder. RFC 8878 recommends that every decoder supports 8 MB. */
const zstdOptions = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };
const gzip: Encoding = { open: () => createGunzip(), canBegin: beginsWith(0x1f, 0x8b) };
const encodings: Readonly<Record<string, Encoding>> = {
  gzip,
  deflate: { open: (start) => (hasZlibHead(start) ? createInflate() : createInflateRaw()) },
  br: { open: () => createBrotliDecompress() },
  zstd: { open: () => createZstdDecompress(zstdOptions), canBegin: beginsWith(0x28, 0xb5, 0x2f, 0xfd) },
};
/** Names of HTTP/1.0. */
const formerNames: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' };

export const encodingNames: readonly string[] = Object.keys(encodings);

/** Finds an encoding by its lower-case name; returns undefined for an unknown one. */
export function findEncoding(name: string): Encoding | undefined {
  const known = Object.hasOwn(formerNames, name) ? formerNames[name] : name;
  return known !== undefined && Object.hasOwn(encodings, known) ? encodings[known] : undefined;
}
