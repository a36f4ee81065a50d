// Some servers answer with JSON although a stream was asked for, or with a stream although JSON was. Behind this `send` an answer
// has the form that was asked for; errors stay as they came.
import { type ProviderApi, upstreamBodyMaxBytes, upstreamEventMaxBytes } from '../../../foundation/constants/index.ts';
import { readText } from '../../../foundation/outgoing/index.ts';
import { nextTurn } from '../../../foundation/time/index.ts';
import { type EventText, readEvents, toEventLine } from '../../../protocol/wire/index.ts';
import { type CandidateAnswer, readStream, type Send } from '../../providers/index.ts';
import type { AnswerForm } from './answer-form.ts';
import { failureOfAnswer } from './read-failure.ts';

export interface AskedForm {
  /** Format of the provider. */
  readonly api: ProviderApi;
  readonly stream: boolean;
  readonly choices: number;
}

type Sent = Awaited<ReturnType<Send>>;

export function inAskedForm(send: Send, asked: AskedForm): Send {
  if (asked.api === 'converse' || asked.api === 'embeddings') return send;
  return async (request) => {
    const sent = await send(request);
    if (sent.kind === 'failure') return sent;
    return asked.stream ? asStream(sent, asked) : asWhole(sent, asked);
  };
}

// Loaded with the first answer that has the other form.
async function formOf(api: ProviderApi): Promise<AnswerForm> {
  const { answerForms } = await import('./forms.ts');
  const form = answerForms[api];
  if (form === undefined) throw new Error(`${api} has no two forms`);
  return form;
}

/** The content type of an answer may be wrong. */
async function asStream(sent: CandidateAnswer, { api }: AskedForm): Promise<Sent> {
  const bytes = sent.body[Symbol.asyncIterator]();
  const first = await bytes.next();
  const start = first.done === true ? undefined : startOf(first.value);
  const isJson = start === undefined ? sent.contentType.includes('application/json') : start === '{' || start === '[';
  const body = withFirst(first, bytes);
  if (!isJson) return { ...sent, kind: 'answer', contentType: streamType, body };
  // Reserved as the bytes of one event, until the call ends.
  const text = await readText(body, upstreamBodyMaxBytes);
  sent.drain();
  if (text === undefined) {
    const refusedAnswer = { usage: undefined, outputBytes: upstreamBodyMaxBytes };
    return { kind: 'failure', failure: { kind: 'failed', cause: 'answer_too_large', refusedAnswer } };
  }
  const form = await formOf(api);
  const read = await form.readAnswer(text);
  if (read.kind !== 'answer') return failureOfAnswer(read, sent.describe);
  const { json } = read.answer;
  // Everything came.
  return { ...sent, kind: 'answer', contentType: streamType, body: bytesOf(form.spread(json)), ...nothingLeft };
}

const streamType = 'text/event-stream';
const nothingLeft = { endCame: () => {}, drain: () => {} };

/** The first character that is neither blank nor a byte-order mark. */
const startOf = (bytes: Uint8Array): string | undefined =>
  /[^\s\ufeff]/.exec(Buffer.from(bytes.subarray(0, startMaxBytes)).toString())?.[0];
const startMaxBytes = 64;

/** The same bytes, with the first already read. */
function withFirst(first: IteratorResult<Uint8Array>, bytes: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let isGiven = false;
  const next = () => {
    if (isGiven) return bytes.next();
    isGiven = true;
    return Promise.resolve(first);
  };
  // Without `return`, so that the rest is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

async function* bytesOf(events: Iterable<EventText>): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { name, text } of events) {
    yield Buffer.from(toEventLine(text, name));
    await nextTurn();
  }
}

async function asWhole(sent: CandidateAnswer, asked: AskedForm): Promise<Sent> {
  const text = await sent.readText();
  const isStream = text !== undefined && eventStart.test(text);
  const isChunks = text !== undefined && asked.api === 'generate-content' && listStart.test(text);
  if (!isStream && !isChunks) return withText(sent, text);
  const form = await formOf(asked.api);
  const batches = isStream ? readEvents(inPieces(text), upstreamEventMaxBytes) : chunksOf(text, form);
  const fold = form.openFold();
  const source = { describe: sent.describe, eventCame: () => {}, endCame: () => {} };
  for await (const { events, failure } of readStream(batches, form.openReader(asked.choices), source)) {
    if (failure !== undefined) return { kind: 'failure', failure };
    for (const event of events) fold.add(event.text);
  }
  return withText(sent, await fold.whole(nextTurn));
}

/** A line of an event, or a comment. JSON begins with none of them. */
const eventStart = /^\s*(?:(?:data|event|id|retry)\s*:|:)/;
const listStart = /^\s*\[/;

/** Read once: its reader alone keeps it. */
function withText(sent: CandidateAnswer, text: string | undefined): Sent {
  let unread = text;
  const readText = async () => {
    const given = unread;
    unread = undefined;
    return given;
  };
  return { ...sent, kind: 'answer', contentType: 'application/json', readText };
}

/** Read in one turn. */
const pieceMaxBytes = 64 * 1024;

async function* inPieces(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceMaxBytes) {
    yield bytes.subarray(at, at + pieceMaxBytes);
    await nextTurn();
  }
}

async function* chunksOf(text: string, form: AnswerForm): AsyncGenerator<EventText[], void, undefined> {
  const read = await form.readAnswer(text);
  yield read.kind === 'answer' ? [...form.spread(read.answer.json)] : [{ text }];
}
