// How a stream of chunks ends: with its end marker, or where it broke with an error line.
import { brokenStreamMessages, type MidStreamCode, toEventLine } from '../../wire/index.ts';

export const doneText = '[DONE]';

/** The end marker, the last line of every stream that ends well. */
export const doneLine = toEventLine(doneText);

/** `endsWithDone`: the end marker follows the error line. Nested, so that SDKs find code and message. */
export function brokenStreamEnd(
  code: MidStreamCode,
  endsWithDone: boolean,
  message: string = brokenStreamMessages[code],
): string {
  return toEventLine(JSON.stringify({ error: { code, message } })) + (endsWithDone ? doneLine : '');
}
