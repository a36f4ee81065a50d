// A provider's event stream, read by the client's interface. It ends well or with a failure: a stream that just stops is never a
// success, or clients would store half an answer.
import { type AnswerEvent, type EventReader, isBeyondBounds } from '../../protocol/interfaces/index.ts';
import type { EventText, MidStreamCode } from '../../protocol/wire/index.ts';
import { type AttemptFailure, classifyErrorObject, type FailureKind } from './classify.ts';
import type { ProviderText } from './provider-text.ts';

/** Events as they came off the wire together; none is a sign of life. A failure comes alone, and ends the stream. */
export interface EventBatch {
  readonly events: readonly AnswerEvent[];
  /** Why the stream broke. */
  readonly failure?: AttemptFailure | undefined;
}

/** The words of an error. */
export type DescribeText = (body: unknown) => ProviderText | undefined;

/** Of an answer whose events are read. */
export interface StreamSource {
  readonly describe: DescribeText;
  /** Its end marker came, and its reader waits for what may come behind that. From now on the body ends soon, or breaks. */
  readonly endCame: () => void;
}

/**
 * Returns after the provider's end marker, or where the stream ends, in whatever way, after everything was said. Throws where
 * the connection breaks before that. A batch without events is a comment or an event without text.
 */
export async function* readStream(
  events: AsyncIterable<EventText[]>,
  reader: EventReader,
  { describe, endCame }: StreamSource,
): AsyncGenerator<EventBatch, void, undefined> {
  let hasUsage = false;
  let isEnded = false;
  try {
    for await (const texts of events) {
      if (isEnded) {
        const late = usageIn(texts, reader);
        if (late.length === 0) continue;
        yield { events: late };
        return;
      }
      const { batch, fault, isEnd, rest } = readBatch(texts, reader, describe);
      hasUsage ||= batch.some(({ details }) => details.usage !== undefined);
      if (isEnd && !hasUsage) {
        // Some servers tell what was used behind the end marker.
        const late = usageIn(rest, reader);
        if (batch.length + late.length > 0) yield { events: [...batch, ...late] };
        if (late.length > 0) return;
        isEnded = true;
        endCame();
        continue;
      }
      if (batch.length > 0 || (fault === undefined && !isEnd)) yield { events: batch };
      // Behind the end of every choice a fault takes nothing away.
      if (fault !== undefined && !reader.isComplete()) yield { events: [], failure: fault };
      if (fault !== undefined || isEnd) return;
    }
  } catch (error) {
    if (!isEnded && !reader.isComplete()) throw error;
  }
  if (!isEnded && !reader.isComplete()) yield { events: [], failure: { kind: 'failed', cause: 'truncated_stream' } };
}

/** JSON that holds more than an event may was written, and is paid for. */
const unreadableEvent = (text: string): AttemptFailure => ({
  kind: 'failed',
  cause: 'unreadable_event',
  ...(isBeyondBounds(text) && { refusedAnswer: { usage: undefined, outputBytes: text.length } }),
});

interface Batch {
  readonly batch: AnswerEvent[];
  readonly fault: AttemptFailure | undefined;
  /** The end marker came. */
  readonly isEnd: boolean;
  /** What came behind it. */
  readonly rest: readonly EventText[];
}

/** Events up to the first that ends the stream or breaks it. */
function readBatch(texts: readonly EventText[], reader: EventReader, describe: DescribeText): Batch {
  const batch: AnswerEvent[] = [];
  for (const [place, event] of texts.entries()) {
    // Some servers keep a connection alive with an event without text.
    if (event.text.trim() === '') continue;
    const reading = reader.read(event);
    if (reading.kind === 'end') return { batch, fault: undefined, isEnd: true, rest: texts.slice(place + 1) };
    if (reading.kind === 'unreadable') {
      return { batch, fault: unreadableEvent(event.text), isEnd: false, rest: [] };
    }
    if (reading.kind === 'error') {
      const fault = { ...classifyErrorObject(reading.error), providerText: describe(reading.error) };
      return { batch, fault, isEnd: false, rest: [] };
    }
    if (reading.kind === 'event') {
      batch.push(reading.event);
      if (reading.event.details.isLast) return { batch, fault: undefined, isEnd: true, rest: [] };
    }
  }
  return { batch, fault: undefined, isEnd: false, rest: [] };
}

/** Events behind the end that report what was used, and bring nothing else. */
const usageIn = (texts: readonly EventText[], reader: EventReader): AnswerEvent[] =>
  texts.flatMap((event) => {
    const reading = event.text.trim() === '' ? undefined : reader.read(event);
    return reading?.kind === 'event' && reading.event.details.usage !== undefined && !reading.event.details.hasOutput
      ? [reading.event]
      : [];
  });

/** The code of the error line with which a stream ends, by what ended it. */
export const midStreamCodeOf: Record<FailureKind, MidStreamCode> = {
  failed: 'no_available_provider',
  rate_limited: 'rate_limited',
  invalid: 'invalid_request',
  deadline: 'request_deadline_exceeded',
  // The client that would read it is gone, or this process ends.
  client_gone: 'no_available_provider',
};
