// One call with an API key, as any client makes it: the request, the raw answer, and its text.

import {
  formFields,
  type PlaygroundInterface,
  type ShownOutput,
  sentCall,
} from '../../../../../shared/protocol/playground/index.ts';
import { readEvents } from '../../../../../shared/protocol/server-sent-events/index.ts';
import { failureOf, RequestFailed } from '../management.ts';

export interface Question {
  /** Ends in /v1. */
  readonly baseUrl: string;
  readonly key: string;
  readonly calledInterface: PlaygroundInterface;
  readonly body: Readonly<Record<string, unknown>>;
  readonly file: File | undefined;
}

export interface Listener {
  /** Called with the `x-request-id` of the answer. */
  readonly started: (id: string | null) => void;
  /** Called with the output so far, each time there is more. */
  readonly shown: (output: ShownOutput) => void;
  /** Called with each raw event. */
  readonly raw: (text: string) => void;
}

const eventMaxBytes = 8 * 1024 * 1024;

/** Throws RequestFailed. */
export async function ask(question: Question, listener: Listener, signal: AbortSignal) {
  const { baseUrl, key, calledInterface } = question;
  const { url, body } = sentCall(calledInterface, baseUrl, question.body);
  const response = await fetch(url, {
    method: 'POST',
    ...sentBody({ ...question, body }, `Bearer ${key}`),
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
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream') && response.body !== null)
    return readStream(response.body, calledInterface, listener);
  const text = await response.text();
  listener.raw(text);
  listener.shown(type.startsWith('text/') ? { text } : calledInterface.readAnswer(JSON.parse(text)));
}

/** A form has a type of its own, with its boundary. */
function sentBody({ calledInterface, body, file }: Question, authorization: string) {
  if (calledInterface.file === undefined || file === undefined) {
    return { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }
  const form = new FormData();
  for (const [name, text] of formFields(body)) form.append(name, text);
  form.append(calledInterface.file.field, file);
  return { headers: { authorization }, body: form };
}

async function readStream(body: ReadableStream<Uint8Array>, calledInterface: PlaygroundInterface, listener: Listener) {
  const fold = calledInterface.openFold?.();
  for await (const events of readEvents(bytesOf(body), eventMaxBytes)) {
    for (const { name, text } of events) {
      listener.raw(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`);
      if (text === '[DONE]') continue;
      const event = JSON.parse(text) as Record<string, unknown>;
      refuseFailure(event);
      fold?.add(event);
    }
    if (fold !== undefined) listener.shown(calledInterface.readAnswer(fold.answer()));
  }
}

/** The events by which interfaces say that a stream broke. Throws RequestFailed. */
function refuseFailure({ type, error, response, ...event }: Record<string, unknown>): void {
  const failed = type === 'response.failed' ? (response as { readonly error?: unknown } | undefined)?.error : error;
  const fault = failed ?? (type === 'error' ? event : undefined);
  if (fault === undefined || fault === null) return;
  const { code, type: kind, message } = fault as { code?: unknown; type?: unknown; message?: unknown };
  throw new RequestFailed(String(code ?? kind), String(message));
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
