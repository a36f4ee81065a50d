// Bounds the input of a package, and lets other work run while the package reads.
import { nextTurn } from '../../../foundation/time/index.ts';
import { isBeyondBounds, scanAnswer } from '../../../protocol/interfaces/index.ts';
import type { ReceivingSend } from '../../providers/index.ts';

/**
 * Length up to which a text is translated within a few milliseconds. The steps of a longer request, or answer, have
 * turns of their own.
 */
const longCharacters = 256 * 1024;
/** Bytes of a stream that a package reads in one turn: a hundred and fifty parts of the smallest size. */
const turnMaxBytes = 16 * 1024;

interface BoundedSend {
  readonly send: ReceivingSend;
  /** Returns the answer, where it exceeds the bounds. */
  readonly refusedText: () => string | undefined;
  /** Awaited between two steps of the translation of long input. */
  readonly nextStep: () => Promise<void>;
}

export function boundedSend(send: ReceivingSend, requestCharacters: number): BoundedSend {
  let characters = requestCharacters;
  const nextStep = async () => {
    if (characters > longCharacters) await nextTurn();
  };
  const onText = async (answer: string) => {
    characters = Math.max(characters, answer.length);
    await nextStep();
  };
  let refusedText: string | undefined;
  const onRefused = (text: string) => {
    refusedText = text;
  };
  return { send: bounded(send, onText, onRefused), refusedText: () => refusedText, nextStep };
}

/**
 * Wraps `send`: a package parses every value of an answer, so an answer that exceeds the bounds is not passed to it.
 */
const bounded =
  (send: ReceivingSend, onText: (text: string) => Promise<void>, onRefused: (text: string) => void): ReceivingSend =>
  async (request) => {
    const sent = await send(request);
    if (sent.kind === 'failure') return sent;
    const readText = async () => {
      const text = await sent.readText();
      if (text === undefined) return undefined;
      await onText(text);
      const isAnswer = scanAnswer(text) !== undefined;
      await onText(text);
      if (!isAnswer && isBeyondBounds(text)) onRefused(text);
      return isAnswer ? text : undefined;
    };
    return { ...sent, readText, body: inTurns(sent.body) };
  };

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
