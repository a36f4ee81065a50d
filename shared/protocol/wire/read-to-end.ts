// A stream of events up to its end, and the one event behind it that still counts: what was used, or the marker of the end.
import type { EventText } from '../server-sent-events/index.ts';

export interface PlacedRead<Read> {
  readonly read: Read;
  /** `end`: nothing of the answer follows. `stop`: nothing that follows is looked at. */
  readonly place?: 'end' | 'stop' | undefined;
  /** It counts behind the end too. */
  readonly isAddition?: boolean;
}

export interface EndReading {
  /** Asked at the end: whether an addition is missing. */
  readonly isWanted: () => boolean;
  /** Its end came, and what may come behind that is waited for: from now on the stream ends soon, or breaks. */
  readonly endCame: () => void;
}

/** What came together, read. Throws where the stream breaks before its end. */
export async function* readToEnd<Read>(
  batches: AsyncIterable<readonly EventText[]>,
  read: (event: EventText) => PlacedRead<Read>,
  { isWanted, endCame }: EndReading,
): AsyncGenerator<Read[], void, undefined> {
  let isEnded = false;
  try {
    for await (const batch of batches) {
      const together: Read[] = [];
      const wasEnded = isEnded;
      for (const event of batch) {
        const one = read(event);
        if (isEnded && one.isAddition !== true) continue;
        together.push(one.read);
        if (isEnded || one.place === 'stop' || (one.place === 'end' && !isWanted())) {
          yield together;
          return;
        }
        if (one.place !== 'end') continue;
        isEnded = true;
        endCame();
      }
      if (!wasEnded) yield together;
    }
  } catch (error) {
    if (!isEnded) throw error;
  }
}
