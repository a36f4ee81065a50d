// Reads an answer, piece by piece. All bytes of one turn of the event loop are one piece, because each piece costs its
// readers the same, however short it is.
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { plainBytes } from '../content-encoding/index.ts';
import { type Clock, inOneTurn, nextTurn } from '../time/index.ts';

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /**
   * The decompressed body. Reading rejects with AnswerNotDecoded if decompression fails, and with another error if the
   * connection breaks. Leaving the loop early keeps the socket: `drain` the rest, or abort the signal of the request.
   */
  readonly body: AsyncIterable<Buffer>;
  /** Reads and drops the rest for a moment, so that the socket can return to the pool. */
  readonly drain: () => void;
}

/** Time limit for the few bytes after an end marker; a server that delays them loses its socket. */
const drainLimitMs = 1_000;

export function toAnswer(clock: Clock, incoming: IncomingMessage): OutgoingAnswer {
  const { bytes, drop } = piecesOf(incoming);
  const body = plainBytes(bytes, incoming.headers['content-encoding']);
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: { [Symbol.asyncIterator]: () => body },
    drain() {
      if (incoming.readableEnded) return;
      const cancel = clock.after(drainLimitMs, () => incoming.destroy());
      incoming.once('close', cancel);
      drop();
    },
  };
}

/** Replaces the stream's own iterator, which costs several times as much and prevents dropping the rest. */
function piecesOf(incoming: IncomingMessage): { readonly bytes: AsyncIterator<Buffer>; readonly drop: () => void } {
  let wake = () => {};
  let isEnded = false;
  let isDropped = false;
  let fault: Error | undefined;
  const end = () => {
    isEnded = true;
    wake();
  };
  const fail = (error: Error) => {
    fault ??= error;
    wake();
  };
  const dropAll = () => {
    while (incoming.read() !== null);
  };
  incoming.on('readable', () => (isDropped ? dropAll() : wake()));
  incoming.on('end', end);
  incoming.on('error', fail);
  incoming.on('close', () => isEnded || fail(new Error('closed before its end')));
  return {
    bytes: {
      next: (): Promise<IteratorResult<Buffer>> =>
        new Promise((resolve, reject) => {
          wake = () => {
            const value: Buffer | null = incoming.read();
            if (value === null && fault === undefined && !isEnded) return;
            // Bytes that arrive before the next piece is requested wait in the stream.
            wake = () => {};
            if (value !== null) resolve({ value });
            else if (fault !== undefined) reject(fault);
            else resolve({ done: true, value: undefined });
          };
          wake();
        }),
    },
    drop() {
      isDropped = true;
      dropAll();
    },
  };
}

const byteOrderMark = '\ufeff';

/** Returns the text, read to its end; undefined if it is longer than `maxBytes`. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onBytes: () => void = () => {},
): Promise<string | undefined> {
  // The text is decoded as it arrives, because a long text that is decoded at once would block other calls.
  let decoder: StringDecoder | undefined;
  let first: Uint8Array | undefined;
  const parts: string[] = [];
  let size = 0;
  for await (const bytes of body) {
    size += bytes.length;
    if (size > maxBytes) return undefined;
    onBytes();
    // Most answers are one piece.
    if (first === undefined) {
      first = bytes;
      continue;
    }
    decoder ??= beginWith(first, parts);
    parts.push(decoder.write(bytes));
  }
  // Many long bodies may end in the same turn.
  if (size > inOneTurn.passedBytes) await nextTurn();
  const text = decoder === undefined ? decoded(first) : parts.join('') + decoder.end();
  return text.startsWith(byteOrderMark) ? text.slice(1) : text;
}

const decoded = (bytes: Uint8Array = new Uint8Array(0)): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

/** Begins to decode a text of several pieces. */
function beginWith(first: Uint8Array, parts: string[]): StringDecoder {
  const decoder = new StringDecoder('utf8');
  parts.push(decoder.write(first));
  return decoder;
}
