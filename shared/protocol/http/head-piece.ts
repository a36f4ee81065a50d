// How much of what a connection has sent belongs to the head of one request: the bytes behind it may be another one.

/** Pieces of what has no known end: a part of a head, a body that does not say its length. */
export const pieceOfUnknownBytes = 1_024;
const endOfHead = '\r\n\r\n';

/** Empty lines in front of a request, which mean nothing. */
export function emptyLinesBytes(bytes: Buffer): number {
  let length = 0;
  while (isLineEnd(bytes[length])) length += 1;
  return length;
}

/** Up to the end of the head; where that has not come, a piece of it. */
export function headPieceBytes(bytes: Buffer): number {
  const end = bytes.indexOf(endOfHead, 0, 'latin1');
  if (end !== -1) return end + endOfHead.length;
  // A line end may be the first half of the head's end: it is handed on with the other half.
  let length = bytes.length;
  while (isLineEnd(bytes[length - 1])) length -= 1;
  return Math.min(length, pieceOfUnknownBytes);
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;
