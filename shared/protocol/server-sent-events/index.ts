// Server-sent events as they are read: bytes cut anywhere become whole events, bounded. Also in browsers: it needs no more than a decoder of text.
import { createParser } from 'eventsource-parser';

/** An event as it came. */
export interface EventText {
  /** Value of `event:`, if any. */
  readonly name?: string | undefined;
  /** Value of `data:`. */
  readonly text: string;
}

/**
 * The events of a stream, batched as they came off the wire. Comments give an empty batch: they are no
 * output, but show that the sender lives. CR, LF and CRLF end lines, a last event without its blank line still counts.
 * Throws RangeError when one event is over `eventMaxBytes`.
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  eventMaxBytes: number,
): AsyncGenerator<EventText[], void, undefined> {
  let events: EventText[] = [];
  let hasComment = false;
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ name: event, text: data }),
    onComment: () => {
      hasComment = true;
    },
    maxBufferSize: eventMaxBytes,
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw new RangeError('an event is too large', { cause: error });
    },
  });
  const decoder = new TextDecoder('utf-8');
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (events.length === 0 && !hasComment) continue;
    yield events;
    events = [];
    hasComment = false;
  }
  parser.feed(`${decoder.decode()}\n\n`);
  if (events.length > 0) yield events;
}
