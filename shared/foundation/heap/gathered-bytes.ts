// Joins bytes that arrive in pieces into one growing buffer, because collecting the pieces until the end would double
// the memory.
import { freeBytes } from './free-bytes.ts';

interface GatheredBytes {
  readonly length: number;
  add(piece: Uint8Array): void;
  /** Returns all bytes and empties the buffer. */
  take(): Buffer;
  /** Frees the bytes that were not taken. */
  drop(): void;
}

const startMinBytes = 1_024;

/** Collects bytes. `expectedBytes` is the most that is expected, 0 if it is unknown. */
export function gatherBytes(expectedBytes: number): GatheredBytes {
  let buffer: ArrayBuffer = new ArrayBuffer(0);
  let length = 0;
  /** The unfilled part is at most as long as the filled part. */
  const grow = (neededBytes: number) => {
    const doubled = Math.max(neededBytes, 2 * buffer.byteLength, startMinBytes);
    const isEnough = expectedBytes >= neededBytes && expectedBytes <= 2 * doubled;
    buffer = buffer.transfer(isEnough ? expectedBytes : doubled);
  };
  return {
    get length() {
      return length;
    },
    add(piece) {
      if (length + piece.length > buffer.byteLength) grow(length + piece.length);
      new Uint8Array(buffer, length).set(piece);
      length += piece.length;
    },
    take() {
      const takenBytes = buffer.byteLength === length ? buffer : buffer.transfer(length);
      buffer = new ArrayBuffer(0);
      length = 0;
      return Buffer.from(takenBytes);
    },
    drop() {
      freeBytes(new Uint8Array(buffer));
      buffer = new ArrayBuffer(0);
      length = 0;
    },
  };
}
