// Server-sent events, both ways. Reading: bytes cut anywhere become whole events, bounded. Writing: one
// `data:` line an event, its text unchanged.
import { createParser } from 'eventsource-parser';

/** One `data:` line. A newline inside JSON can only stand between tokens, so a blank keeps the text one line. */
export const toEventLine = (text: string): string =>
  `data: ${text.includes('\n') ? text.replaceAll('\n', ' ') : text}\n\n`;

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

export type MidStreamCode = keyof typeof brokenStreamMessages;
export const midStreamCodes = Object.keys(brokenStreamMessages) as MidStreamCode[];

/**
 * The `data` texts of an event stream, batched as they came off the wire. Comments give an empty batch: they are no
 * output, but show that the sender lives. CR, LF and CRLF end lines, a last event without its blank line still counts.
 * Throws RangeError when one event is over `eventMaxBytes`.
 */
export async function* readEventTexts(
  body: AsyncIterable<Uint8Array>,
  eventMaxBytes: number,
): AsyncGenerator<string[], void, undefined> {
  let texts: string[] = [];
  let hasComment = false;
  const parser = createParser({
    onEvent: ({ data }) => texts.push(data),
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
    if (texts.length === 0 && !hasComment) continue;
    yield texts;
    texts = [];
    hasComment = false;
  }
  parser.feed(`${decoder.decode()}\n\n`);
  if (texts.length > 0) yield texts;
}
