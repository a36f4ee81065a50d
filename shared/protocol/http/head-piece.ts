// Finds how many of a connection's bytes belong to the head of one request: the bytes after it may be another one.

/** Size of pieces where the end is unknown: a part of a head, or a body without a declared length. */
export const pieceOfUnknownBytes = 1_024;
const endOfHead = '\r\n\r\n';
/** Includes empty lines that HTTP does not allow. */
const emptyLines = ['\n\n', '\n\r', '\r\r'];

/** Counts empty lines before a request, which HTTP ignores. */
export function emptyLinesBytes(bytes: Buffer): number {
  let length = 0;
  while (isLineEnd(bytes[length])) length += 1;
  return length;
}

/** Finds the bytes up to the end of the head, or a piece of it where the end has not arrived. */
export function headPiece(bytes: Buffer): { readonly length: number; readonly isWhole: boolean } {
  const end = bytes.indexOf(endOfHead, 0, 'latin1');
  if (end !== -1) return { length: end + endOfHead.length, isWhole: true };
  // A line end may be the first half of the head's end: it is handed on with the other half.
  let length = bytes.length;
  while (isLineEnd(bytes[length - 1])) length -= 1;
  // Of many pieces Node's parser makes one longer copy after another. Without an empty line of any kind no head can end.
  const canEnd = emptyLines.some((line) => bytes.indexOf(line, 0, 'latin1') !== -1);
  return { length: canEnd ? Math.min(length, pieceOfUnknownBytes) : length, isWhole: false };
}

/** Bytes that Node's parser keeps for a line of an unfinished head beside its text: two strings and their places. */
const lineOverheadBytes = 112;
const lineFeed = 0x0a;

/** Bytes of memory that a piece of an unfinished head takes. */
export function bytesInUse(piece: Buffer): number {
  let bytes = piece.length;
  for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) bytes += lineOverheadBytes;
  return bytes;
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0d || byte === 0x0a;
