// The body of a request, written as the other end takes it: written at once, a long one is copied whole.
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';

const pieceCharacters = 64 * 1024;

/** Ends early where the request does. */
export async function writeBody(outgoing: ClientRequest, body: string | Uint8Array): Promise<void> {
  if (body.length <= pieceCharacters) {
    outgoing.end(body);
    return;
  }
  const closed = new AbortController();
  outgoing.once('close', () => closed.abort());
  for (let start = 0; start < body.length && !outgoing.destroyed; ) {
    const end = start + (typeof body === 'string' ? pieceAt(body, start) : pieceCharacters);
    const goesOn = outgoing.write(typeof body === 'string' ? body.slice(start, end) : body.subarray(start, end));
    start = end;
    if (!goesOn) await once(outgoing, 'drain', { signal: closed.signal }).catch(() => {});
  }
  if (!outgoing.destroyed) outgoing.end();
}

/** No half of a character. */
const pieceAt = (text: string, start: number): number => {
  const last = text.charCodeAt(start + pieceCharacters - 1);
  return last >= 0xd800 && last <= 0xdbff ? pieceCharacters - 1 : pieceCharacters;
};
