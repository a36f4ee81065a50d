// Reads server-sent events. Bytes that are cut anywhere become complete events, which are bounded. The module runs in
// browsers too, because it needs no more than a decoder of text.
import { createParser } from 'eventsource-parser';

/** An event as it came. */
export interface EventText {
  /** Value of `event:`, if the event has a name. */
  readonly name?: string | undefined;
  /** Value of `data:`. */
  readonly text: string;
}

/**
 * Yields the events of a stream, in the batches in which they arrived. Comments give an empty batch, because they are
 * not output, but show that the sender is alive. CR, LF and CRLF end lines, and a last event without its blank line
 * still counts. Throws RangeError when one event is over `eventMaxBytes`.
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
