// Writes the client's text of a stream: events, or one JSON array of chunks if its query does not ask for events.
import { fail, googleError } from '../../../errors/index.ts';
import { brokenStreamMessages, type MidStreamCode, toEventLine } from '../../wire/index.ts';
import type { StreamForm, StreamWriter } from '../index.ts';

const brokenText = (code: MidStreamCode, message: string = brokenStreamMessages[code]): string =>
  JSON.stringify({ error: googleError(fail(code, { message }), {}) });

/** Format of the array: blanks between two values keep an idle stream alive. */
export const listForm: StreamForm = { contentType: 'application/json; charset=utf-8', keepAlive: '\n' };

export const openEventWriter = (): StreamWriter => ({
  event: ({ text }) => toEventLine(text),
  beforeEnd: () => '',
  end: '',
  broken: (code, message) => toEventLine(brokenText(code, message)),
});

export function openListWriter(): StreamWriter {
  let isBegun = false;
  const item = (text: string): string => {
    const separator = isBegun ? ',\n' : '[';
    isBegun = true;
    return separator + text;
  };
  return {
    event: ({ text }) => item(text),
    beforeEnd: () => '',
    get end() {
      return isBegun ? ']' : '[]';
    },
    broken: (code, message) => `${item(brokenText(code, message))}]`,
  };
}
