// Finds how many of a connection's bytes belong to the head of one request: the bytes after it may be another one.

/** Size of pieces where the end is unknown: a part of a head, or a body without a declared length. */
export const pieceOfUnknownBytes = 1_024;
const endOfHead = '\r\n\r\n';

/** Counts empty lines before a request, which HTTP ignores. */
export function emptyLinesBytes(bytes: Buffer): number {
  let length = 0;
  while (isLineEnd(bytes[length])) length += 1;
  return length;
}

/** Counts bytes up to the end of the head, or a piece of it where the end has not arrived. */
export function headPieceBytes(bytes: Buffer): number {
  const end = bytes.indexOf(endOfHead, 0, 'latin1');
  if (end !== -1) return end + endOfHead.length;
  // A line end may be the first half of the head's end: it is handed on with the other half.
  let length = bytes.length;
  while (isLineEnd(bytes[length - 1])) length -= 1;
  return Math.min(length, pieceOfUnknownBytes);
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;
