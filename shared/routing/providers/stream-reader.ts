// Reads a provider's event stream by the client's interface. The events end with the answer's end or with a failure. A
// stream that just stops is never a success, or clients would store half an answer.
import { isBeyondBounds } from '../../protocol/interfaces/index.ts';
import {
  type AnswerEvent,
  type EventReader,
  type EventReading,
  type EventText,
  type MidStreamCode,
  type PlacedRead,
  readToEnd,
} from '../../protocol/wire/index.ts';
import { type AttemptFailure, classifyErrorObject, type FailureKind } from './classify.ts';
import type { ProviderText } from './provider-text.ts';

/**
 * Events that arrived together; an empty batch shows that the provider is alive. A failure comes alone, and ends the
 * stream.
 */
export interface EventBatch {
  readonly events: readonly AnswerEvent[];
  /** Events that do not leave, but are paid for. */
  readonly dropped?: readonly AnswerEvent[] | undefined;
  /** Why the stream broke. */
  readonly failure?: AttemptFailure | undefined;
}

/** Returns the text of an error. */
export type DescribeText = (body: unknown) => ProviderText | undefined;

/** An answer whose events are read. */
export interface StreamSource {
  readonly describe: DescribeText;
  /** Called when an event, or a part for a package, is complete. The bytes before the call then need no memory. */
  readonly onEvent: () => void;
  /** Called at the end marker, while a later event is awaited. From now on the body ends soon, or breaks. */
  readonly onEnd: () => void;
}

/**
 * Yields batches of events. Returns after the provider's end marker, or if the stream ends, in whatever way, once
 * the answer is complete. Throws if the connection breaks before that. A batch without events is a comment or an
 * event without text.
 */
export async function* readStream(
  batches: AsyncIterable<EventText[]>,
  reader: EventReader,
  { describe, onEvent, onEnd }: StreamSource,
): AsyncGenerator<EventBatch, void, undefined> {
  const isMarked = reader.mayBeMarked === true;
  let hasUsage = false;
  let isEnded = false;
  let fault: AttemptFailure | undefined;
  const read = (event: EventText): PlacedRead<AnswerEvent | undefined> => {
    // Some servers keep a connection alive with an event without text.
    const reading = event.text.trim() === '' ? undefined : reader.read(event);
    if (reading === undefined) return { read: undefined };
    isEnded ||= reading.kind === 'end';
    if (reading.kind === 'end') return { read: undefined, place: 'end' };
    if (reading.kind !== 'event') {
      if (!isEnded) fault = faultOf(reading, event, describe);
      return { read: undefined, place: 'stop' };
    }
    const { isLast, isEndMarker = false, usage, hasOutput } = reading.event.details;
    isEnded ||= isLast;
    hasUsage ||= usage !== undefined;
    const place = isEndMarker ? 'stop' : isLast ? 'end' : undefined;
    return { read: reading.event, place, isAddition: isEndMarker || (!isMarked && usage !== undefined && !hasOutput) };
  };
  // Some servers report the usage after the end marker; an event after a final event would belong to another answer.
  const isWanted = () => isMarked || !hasUsage;
  try {
    for await (const together of readToEnd(batches, read, { isWanted, onEnd })) {
      onEvent();
      const events = together.filter((event) => event !== undefined);
      if (events.length > 0 || (fault === undefined && !isEnded)) yield { events };
    }
  } catch (error) {
    if (!reader.isComplete()) throw error;
  }
  if (isEnded || reader.isComplete()) return;
  // A fault after the end of every choice loses nothing.
  yield { events: [], failure: fault ?? { kind: 'failed', cause: 'truncated_stream' } };
}

function faultOf(
  reading: Extract<EventReading, { kind: 'error' | 'unreadable' }>,
  { text }: EventText,
  describe: DescribeText,
): AttemptFailure {
  if (reading.kind === 'unreadable') return unreadableEvent(text);
  return { ...classifyErrorObject(reading.error), providerText: describe(reading.error) };
}

/** Returns the failure. JSON that exceeds the bounds of an event was generated, and is paid for. */
const unreadableEvent = (text: string): AttemptFailure => ({
  kind: 'failed',
  cause: 'unreadable_event',
  ...(isBeyondBounds(text) && { unusedAnswer: { usage: undefined, outputBytes: text.length } }),
});

/** Codes of the error line that ends a stream, by the failure. */
export const midStreamCodeOf: Record<FailureKind, MidStreamCode> = {
  failed: 'no_available_provider',
  rate_limited: 'rate_limited',
  invalid: 'invalid_request',
  deadline: 'request_deadline_exceeded',
  // The client that would read it has left, or this process ends.
  client_gone: 'no_available_provider',
};
