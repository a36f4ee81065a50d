// The body of a request, written as the other end takes it: written at once, a long one is copied whole.
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';

const pieceCharacters = 64 * 1024;

export type OutgoingBody = string | Uint8Array | readonly Uint8Array[];

export const bodyBytes = (body: OutgoingBody): number =>
  Array.isArray(body)
    ? body.reduce((sum, piece) => sum + piece.length, 0)
    : Buffer.byteLength(body as string | Uint8Array);

/** Ends early where the request does. */
export async function writeBody(outgoing: ClientRequest, body: OutgoingBody): Promise<void> {
  const parts = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  const [only = ''] = parts;
  if (parts.length <= 1 && only.length <= pieceCharacters) {
    outgoing.end(only);
    return;
  }
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  for (const part of parts) {
    for (let start = 0; start < part.length && !outgoing.destroyed; ) {
      const end = start + (typeof part === 'string' ? pieceAt(part, start) : pieceCharacters);
      const goesOn = outgoing.write(typeof part === 'string' ? part.slice(start, end) : part.subarray(start, end));
      start = end;
      if (!goesOn) await once(outgoing, 'drain', { signal: closed.signal }).catch(() => {});
    }
  }
  if (!outgoing.destroyed) outgoing.end();
}

/** No half of a character. */
const pieceAt = (text: string, start: number): number => {
  const last = text.charCodeAt(start + pieceCharacters - 1);
  return last >= 0xd800 && last <= 0xdbff ? pieceCharacters - 1 : pieceCharacters;
};
