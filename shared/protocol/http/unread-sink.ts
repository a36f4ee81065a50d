// The sink of an answer that its client may not read: while no byte moves, the memory of its request counts the rest of
// it.
import type { CallMemory } from '../memory-budget/index.ts';
import type { AnswerPort } from './answer-port.ts';
import type { TextSink } from './delivery.ts';

type Counted = Pick<CallMemory, 'standStill' | 'moveOn'>;

/** `text`: the whole answer; empty for a stream, which is produced no faster than it is read. */
export function unreadSink(
  { stream: outgoing, cut }: Pick<AnswerPort, 'stream' | 'cut'>,
  memory: Counted,
  text: string,
): TextSink {
  let leftCharacters = text.length;
  let characterBytes: number | undefined;
  const moveOn = () => memory.moveOn();
  outgoing.on('drain', moveOn).once('close', moveOn);
  return {
    write(piece: string, encoding?: 'latin1') {
      leftCharacters = Math.max(0, leftCharacters - piece.length);
      const goesOn = encoding === undefined ? outgoing.write(piece) : outgoing.write(piece, encoding);
      if (goesOn || outgoing.destroyed) return goesOn;
      characterBytes ??= Buffer.byteLength(text) === text.length ? 1 : 2;
      memory.standStill(outgoing.writableLength + characterBytes * leftCharacters, cut);
      return goesOn;
    },
    once: (event, listener) => outgoing.once(event, listener),
    off: (event, listener) => outgoing.off(event, listener),
  };
}
