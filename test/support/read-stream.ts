// Readers of an event stream: to its end, or piece by piece.
import { expect } from '#jest';
import { dataLines } from './harness.ts';

export interface ReadStream {
  /** The texts after `data: `, without the end marker. */
  readonly lines: readonly string[];
  readonly text: string;
  readonly headers: Headers;
}

/** Reads a complete stream and asserts the rules for every stream: its type, and one end marker, which is last. */
export async function readStream(response: Response): Promise<ReadStream> {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  const lines = dataLines(text);
  expect(lines.filter((line) => line === '[DONE]')).toHaveLength(1);
  // A stream contains only data lines and comments, and each event is one line.
  for (const event of text.slice(0, -2).split('\n\n')) expect(event).toMatch(/^(data: [^\n]+|:[^\n]*)$/);
  return { lines: lines.slice(0, -1), text, headers: response.headers };
}

/** Reads a stream of any interface to its end. */
export async function readWhole(response: Response): Promise<Pick<ReadStream, 'text' | 'headers'>> {
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream\b/);
  return { text, headers: response.headers };
}

/** Returns the contents of a stream, joined. */
export const contentOf = (lines: readonly string[]): string =>
  lines.map((line) => JSON.parse(line).choices?.[0]?.delta?.content ?? '').join('');

/** Reads until the received text contains `wanted`; the rest is left unread. */
export async function readUntil(
  response: Response,
  wantedText: string,
): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes(wantedText)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended before "${wantedText}": ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return reader;
}

export async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
  }
  return text;
}
