// Bounds the input of a package, and lets other work run while the package reads.
import { nextTurn } from '../../../foundation/time/index.ts';
import { isBeyondBounds, scanAnswer } from '../../../protocol/interfaces/index.ts';
import type { ReceivingSend } from '../../providers/index.ts';

/** Length from which an answer is searched in a turn of its own. */
const searchedMaxCharacters = 256 * 1024;
/** Bytes of a stream that a package reads in one turn: a hundred and fifty parts of the smallest size. */
const turnMaxBytes = 16 * 1024;

interface BoundedSend {
  readonly send: ReceivingSend;
  /** Returns the answer, if it exceeds the bounds. */
  readonly refusedText: () => string | undefined;
  /** Whether the request, or the answer, is so long that others get turns between the steps of its translation. */
  readonly isLong: () => boolean;
}

/**
 * Wraps `send`: a package parses every value of an answer, so an answer that exceeds the bounds is not passed to it.
 */
export function boundedSend(send: ReceivingSend, isLongRequest: boolean): BoundedSend {
  let isLong = isLongRequest;
  let refusedText: string | undefined;
  return {
    async send(request) {
      const sent = await send(request);
      if (sent.kind === 'failure') return sent;
      const readText = async () => {
        const text = await sent.readText();
        if (text === undefined) return undefined;
        if (text.length > searchedMaxCharacters) await nextTurn();
        const json = scanAnswer(text);
        if (json === undefined && isBeyondBounds(text)) refusedText = text;
        isLong ||= json?.isLong === true;
        return json && text;
      };
      return { ...sent, readText, body: inTurns(sent.body) };
    },
    refusedText: () => refusedText,
    isLong: () => isLong,
  };
}

/** Passes on available bytes piece by piece, with turns of the event loop in between. */
function inTurns(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const bytes = body[Symbol.asyncIterator]();
  let rest: Uint8Array = Buffer.alloc(0);
  let turnBytes = 0;
  async function next(): Promise<IteratorResult<Uint8Array>> {
    if (turnBytes >= turnMaxBytes) {
      await nextTurn();
      turnBytes = 0;
    }
    if (rest.length === 0) {
      const read = await bytes.next();
      if (read.done === true) return read;
      rest = read.value;
    }
    const value = rest.subarray(0, turnMaxBytes - turnBytes);
    rest = rest.subarray(value.length);
    turnBytes += value.length;
    return { value };
  }
  // The iterator has no `return`, so that the rest is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
