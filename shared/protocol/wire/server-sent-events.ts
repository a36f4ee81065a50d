// Server-sent events, both ways. Reading: bytes cut anywhere become whole events, bounded. Writing: one
// `data:` line an event, its text unchanged.
import { createParser } from 'eventsource-parser';

/** An event as it came. */
export interface EventText {
  /** What stood in `event:`. Undefined: nothing did. */
  readonly name?: string | undefined;
  /** What stood in `data:`. */
  readonly text: string;
}

/** A newline inside JSON can only stand between tokens, so a blank keeps the text one `data:` line. */
export const toEventLine = (text: string, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${text.includes('\n') ? text.replaceAll('\n', ' ') : text}\n\n`;

/** A comment: readers of event streams skip it. */
export const keepAliveLine = ': keep-alive\n\n';

/** What a stream that failed after its first output tells its client. */
export const brokenStreamMessages = {
  no_available_provider: 'The stream broke off after its first output: the provider failed.',
  request_deadline_exceeded: 'The stream was cut off: it was not finished within its time budget.',
  rate_limited: 'The stream broke off after its first output: the provider is rate limited.',
  invalid_request: 'The stream broke off after its first output: the provider rejected the request.',
  schema_validation_failed: 'The answer does not satisfy the schema of response_format.',
} as const;

/** In place of the words of the code, where no provider failed. */
export const stoppedMessage = 'The gateway was stopped while the call ran: send it again.';

export type MidStreamCode = keyof typeof brokenStreamMessages;
export const midStreamCodes = Object.keys(brokenStreamMessages) as MidStreamCode[];

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
