// What answers keep in memory whose clients do not read them. A client that reads gets its answer however slowly it does;
// where all that waits is too much, the answer that has stood still for longest ends.
import type { ServerResponse } from 'node:http';
import type { TextSink } from './delivery.ts';

/** Two of the largest answers of every interface, or 1,000 of 64 KiB. */
const unreadMaxCharacters = 64 * 1024 * 1024;

export interface UnreadAnswers {
  /** The sink of an answer of so many characters in all, or of a stream, which is made no faster than it is read. */
  watch(outgoing: ServerResponse, characters: number): TextSink;
}

export function createUnreadAnswers(maxCharacters: number = unreadMaxCharacters): UnreadAnswers {
  /** Those that wait for their reader, the one that has waited longest first. */
  const standing = new Map<ServerResponse, number>();
  let total = 0;
  const moveOn = (outgoing: ServerResponse) => {
    total -= standing.get(outgoing) ?? 0;
    standing.delete(outgoing);
  };
  const standStill = (outgoing: ServerResponse, characters: number) => {
    moveOn(outgoing);
    standing.set(outgoing, characters);
    total += characters;
    for (const [longest] of standing) {
      if (total <= maxCharacters) break;
      moveOn(longest);
      longest.destroy();
    }
  };
  return {
    watch(outgoing, characters) {
      let leftCharacters = characters;
      const onMove = () => moveOn(outgoing);
      outgoing.on('drain', onMove).once('close', onMove);
      return {
        write(text) {
          leftCharacters = Math.max(0, leftCharacters - text.length);
          const goesOn = outgoing.write(text);
          if (!goesOn && !outgoing.destroyed) standStill(outgoing, outgoing.writableLength + leftCharacters);
          return goesOn;
        },
        once: (event, listener) => outgoing.once(event, listener),
        off: (event, listener) => outgoing.off(event, listener),
      };
    },
  };
}
