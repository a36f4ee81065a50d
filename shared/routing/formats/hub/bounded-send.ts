// Bounds the input of a package, and lets other work run while the package reads.
import { bytesInTurns, inOneTurn, nextTurn } from '../../../foundation/time/index.ts';
import { isBeyondBounds, scanAnswer } from '../../../protocol/interfaces/index.ts';
import type { ReceivingSend } from '../../providers/index.ts';

interface BoundedSend {
  readonly send: ReceivingSend;
  /** Returns the answer, if it exceeds the bounds. */
  readonly refusedText: () => string | undefined;
  /** Whether the request, or the answer, is so long that others get turns between the steps of its translation. */
  readonly isLong: () => boolean;
}

/**
 * Wraps `send`. A package parses every value of an answer, so an answer that exceeds the bounds does not reach the
 * package.
 */
export function boundedSend(send: ReceivingSend, isLongRequest: boolean): BoundedSend {
  let isLong = isLongRequest;
  let refusedText: string | undefined;
  return {
    async send(request) {
      const answer = await send(request);
      if (answer.kind === 'failure') return answer;
      const readText = async () => {
        const text = await answer.readText();
        if (text === undefined) return undefined;
        if (text.length > inOneTurn.jsonCharacters) await nextTurn();
        const json = scanAnswer(text);
        if (json === undefined && isBeyondBounds(text)) refusedText = text;
        isLong ||= json?.isLong === true;
        return json && text;
      };
      return { ...answer, readText, body: bytesInTurns(answer.body) };
    },
    refusedText: () => refusedText,
    isLong: () => isLong,
  };
}
