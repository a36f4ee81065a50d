// How a stream of chunks ends: with its end marker, or where it broke with an error line.
import { brokenStreamMessages, type MidStreamCode, toEventLine } from '../../wire/index.ts';

export const doneText = '[DONE]';

/** The end marker, the last line of every stream that ends well. */
export const doneLine = toEventLine(doneText);

/** `endsWithDone`: the end marker follows the error line. Nested, so that SDKs find code and message. */
export const brokenStreamEnd = (code: MidStreamCode, endsWithDone: boolean): string =>
  toEventLine(JSON.stringify({ error: { code, message: brokenStreamMessages[code] } })) +
  (endsWithDone ? doneLine : '');

/**
 * The same for a stream that was broken off anywhere, behind `tail`. Nothing where the end marker was already written:
 * SDKs would not see what follows it. They take a stream that just stops for a success.
 */
export function closeBrokenStream(tail: string, code: MidStreamCode, endsWithDone: boolean): string {
  if (tail.endsWith(doneLine)) return '';
  // A line cut in the middle must not swallow the error line.
  const gap = tail === '' || tail.endsWith('\n\n') ? '' : '\n\n';
  return gap + brokenStreamEnd(code, endsWithDone);
}
