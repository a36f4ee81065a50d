// One call with an API key, as any client makes it: the request, the raw answer, and its text.
import { readEvents } from '../../../../../shared/protocol/server-sent-events/index.ts';
import { failureOf, RequestFailed } from '../management.ts';
import type { Heard, PlaygroundInterface } from './draft.ts';

export interface Question {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly key: string;
  readonly calledInterface: PlaygroundInterface;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Listener {
  /** Called with the `x-request-id` of the answer. */
  readonly started: (id: string | null) => void;
  readonly heard: (part: Heard) => void;
  /** Called with each raw event. */
  readonly raw: (text: string) => void;
}

const eventMaxBytes = 8 * 1024 * 1024;

/** Throws RequestFailed. */
export async function ask({ baseUrl, key, calledInterface, body }: Question, listener: Listener, signal: AbortSignal) {
  const response = await fetch(`${baseUrl}${calledInterface.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new RequestFailed('unreachable', `No gateway answers at ${baseUrl}.`);
  });
  listener.started(response.headers.get('x-request-id'));
  if (!response.ok) {
    const copy = response.clone();
    listener.raw(await copy.text());
    throw await failureOf(response);
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && response.body !== null) return readStream(response.body, calledInterface, listener);
  const text = await response.text();
  listener.raw(text);
  listener.heard(calledInterface.readAnswer(JSON.parse(text)));
}

async function readStream(body: ReadableStream<Uint8Array>, calledInterface: PlaygroundInterface, listener: Listener) {
  for await (const events of readEvents(bytesOf(body), eventMaxBytes)) {
    for (const { name, text } of events) {
      listener.raw(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
      if (text === '[DONE]') continue;
      const heard = calledInterface.readEvent(JSON.parse(text));
      if (heard.failure) throw new RequestFailed(heard.failure.code, heard.failure.message);
      listener.heard(heard);
    }
  }
}

/** Not every browser lets a stream be walked through. */
async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}
