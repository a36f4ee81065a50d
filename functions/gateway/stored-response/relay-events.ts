// Relays the events of a stored response as they arrive, byte for byte. The text is cut only between two events, so
// that a broken stream ends after a complete event.
import { upstreamEventMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { BodyPart } from '../../../shared/protocol/http/index.ts';
import { brokenStreamMessages, type MidStreamCode, toEventLine } from '../../../shared/protocol/wire/index.ts';

export interface RelayedEvents {
  /** Never throws. */
  readonly parts: AsyncGenerator<BodyPart, void, undefined>;
  /** Returns the error event for a stream that broke. */
  readonly broken: (code: MidStreamCode) => string;
}

interface EventsReading {
  /** Called after each part is passed on, when its bytes need no memory any more. */
  readonly onEvent: () => void;
  readonly codeOf: (error: unknown) => MidStreamCode;
}

export function relayEvents(body: AsyncIterable<Uint8Array>, { onEvent, codeOf }: EventsReading): RelayedEvents {
  let sequenceNumber = -1;
  let isComplete = true;

  function see(text: string): void {
    sequenceNumber = sequenceNumberIn(text) ?? sequenceNumber;
    isComplete = lastEvents.test(text) || (isComplete && !text.includes('"type":'));
    onEvent();
  }
  const brokenLineOf = (code: MidStreamCode): string => brokenLine(sequenceNumber, code);

  async function* relay(): AsyncGenerator<BodyPart, void, undefined> {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let pending: string[] = [];
    let pendingLength = 0;
    let tail = '';
    try {
      for await (const bytes of body) {
        const text = decoder.decode(bytes, { stream: true });
        const end = Math.max(0, endOfEvents(tail + text) - tail.length);
        if (end > 0) {
          const whole = pending.join('') + text.slice(0, end);
          see(whole);
          yield { text: whole, isEnd: false };
          pending = [];
          pendingLength = 0;
          tail = '';
        }
        const rest = text.slice(end);
        pending.push(rest);
        pendingLength += rest.length;
        tail = (tail + rest).slice(-endMaxCharacters);
        if (pendingLength > upstreamEventMaxBytes) throw new RangeError('an event is too large');
      }
      const rest = pending.join('') + decoder.decode();
      if (rest.trim() !== '') see(rest);
      if (!isComplete) throw new Error('the stream ended early');
      yield { text: rest, isEnd: true };
    } catch (error) {
      yield { text: brokenLineOf(codeOf(error)), isEnd: true };
    }
  }
  return { parts: relay(), broken: brokenLineOf };
}

/**
 * Matches the event that ends a response, successful or not; comments and `[DONE]` may follow. A stream without any
 * event is complete, because no event followed the requested position.
 */
const lastEvents = /"type":\s?"(?:response\.(?:completed|incomplete|failed|cancelled)|error)"/;

/** The blank line after an event. */
const ends = ['\n\n', '\r\n\r\n', '\r\r'];
/** Characters of an unfinished blank line that the next bytes may complete. */
const endMaxCharacters = 3;

/** Returns the position after the last complete event; 0 if there is none. */
const endOfEvents = (text: string): number =>
  Math.max(...ends.map((end) => (text.includes(end) ? text.lastIndexOf(end) + end.length : 0)));

const numberName = '"sequence_number":';

/** Returns the sequence number of the last event in the text. */
export function sequenceNumberIn(text: string): number | undefined {
  const at = text.lastIndexOf(numberName);
  const number =
    at < 0 ? Number.NaN : Number.parseInt(text.slice(at + numberName.length, at + numberName.length + 16), 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

/**
 * Returns the error event of a stream that broke. `sequenceNumber` is the number of the last event before the break.
 */
export function brokenLine(sequenceNumber: number, code: MidStreamCode): string {
  const message = brokenStreamMessages[code];
  return toEventLine(JSON.stringify({ type: 'error', code, message, sequence_number: sequenceNumber + 1 }), 'error');
}
