// Server-sent events, both ways (spec 6). Reading: bytes cut anywhere become whole events, bounded. Writing: one
// `data:` line an event, its text unchanged.
import { createParser } from 'eventsource-parser';

export const doneText = '[DONE]';

/** One `data:` line. A newline inside JSON can only stand between tokens, so a blank keeps the text one line. */
export const toEventLine = (text: string): string =>
  `data: ${text.includes('\n') ? text.replaceAll('\n', ' ') : text}\n\n`;

export const doneLine = toEventLine(doneText);

/** Spec 6: the error line of a stream that failed after its first output. Nested, so that SDKs find code and message. */
export const errorLine = (code: string, message: string): string =>
  toEventLine(JSON.stringify({ error: { code, message } }));

/**
 * The `data` texts of an event stream, batched as they came off the wire. Comments are dropped, CR, LF and CRLF end
 * lines, a last event without its blank line still counts. Throws RangeError when one event is over `eventMaxBytes`.
 */
export async function* readEventTexts(
  body: AsyncIterable<Uint8Array>,
  eventMaxBytes: number,
): AsyncGenerator<string[], void, undefined> {
  let texts: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => texts.push(data),
    maxBufferSize: eventMaxBytes,
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw new RangeError('an event is too large', { cause: error });
    },
  });
  const decoder = new TextDecoder('utf-8');
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (texts.length > 0) {
      yield texts;
      texts = [];
    }
  }
  parser.feed(`${decoder.decode()}\n\n`);
  if (texts.length > 0) yield texts;
}
