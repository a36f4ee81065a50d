// Decodes long bytes to a text within V8's heap: a text of more than a megabyte that Node decodes at once is in memory
// of the C library, which returns little of it to the system.
import { StringDecoder } from 'node:string_decoder';

const pieceBytes = 256 * 1024;

/** Decodes UTF-8. */
export function textOfBytes(bytes: Buffer): string {
  if (bytes.length <= pieceBytes) return bytes.toString('utf8');
  const decoder = new StringDecoder('utf8');
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(decoder.write(bytes.subarray(at, at + pieceBytes)));
  return pieces.join('') + decoder.end();
}
