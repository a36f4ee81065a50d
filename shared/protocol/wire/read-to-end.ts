// Reads a stream of events up to its end, and the one event after the end that still counts, which is the usage, or the
// end marker.
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import type { EventText } from '../server-sent-events/index.ts';

export interface PlacedRead<Read> {
  readonly read: Read;
  /** `end` means that no part of the answer follows. `stop` means that no later event is read. */
  readonly place?: 'end' | 'stop' | undefined;
  /** True if the event counts after the end too. */
  readonly isAddition?: boolean;
}

export interface EndReading {
  /** Returns whether an addition is missing; called at the end. */
  readonly isWanted: () => boolean;
  /** Called at the end, while a later event is awaited, because the stream then ends soon, or breaks. */
  readonly onEnd: () => void;
}

/**
 * Yields events that arrived together, parsed, as many as are read in one turn of the event loop. Throws if the stream
 * breaks before its end.
 */
export async function* readToEnd<Read>(
  batches: AsyncIterable<readonly EventText[]>,
  read: (event: EventText) => PlacedRead<Read>,
  { isWanted, onEnd }: EndReading,
): AsyncGenerator<Read[], void, undefined> {
  let isEnded = false;
  let turnEvents = 0;
  try {
    for await (const batch of batches) {
      let together: Read[] = [];
      const wasEnded = isEnded;
      for (const event of batch) {
        // Events are divided, and not bytes, because a text in several pieces would be copied. A few long events get no
        // turns, because a stream that waits for a turn keeps them in memory.
        if (turnEvents === inOneTurn.events) {
          if (together.length > 0) yield together;
          together = [];
          turnEvents = 0;
          await nextTurn();
        }
        turnEvents += 1;
        const one = read(event);
        if (isEnded && one.isAddition !== true) continue;
        together.push(one.read);
        if (isEnded || one.place === 'stop' || (one.place === 'end' && !isWanted())) {
          yield together;
          return;
        }
        if (one.place !== 'end') continue;
        isEnded = true;
        onEnd();
      }
      if (!wasEnded) yield together;
    }
  } catch (error) {
    if (!isEnded) throw error;
  }
}
