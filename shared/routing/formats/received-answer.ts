// Reads an answer as it came, JSON or a stream, whatever was requested and whatever its type is.
import { largeBodyMaxBytes, type ProviderApi, upstreamBodyMaxBytes } from '../../foundation/constants/index.ts';
import { readText } from '../../foundation/outgoing/index.ts';
import { bytesInTurns } from '../../foundation/time/index.ts';
import type { CandidateAnswer, NoAnswer, ReceivedAnswer, ReceivingSend, Send } from '../providers/index.ts';

interface AnswerDelivery {
  /** Format of the provider. */
  readonly api: ProviderApi;
  readonly stream: boolean;
}

type Sent = CandidateAnswer & { readonly kind: 'answer' };

export function receivingSend(send: Send, { api, stream }: AnswerDelivery): ReceivingSend {
  return async (request) => {
    const result = await send(request);
    if (result.kind === 'failure') return result;
    // The frames of Converse are not text.
    const isBinary = api === 'converse' && !result.contentType.includes('json');
    if (!stream && !isBinary) return byText(result, await result.readText(), api);
    // In place of JSON the whole body becomes one answer.
    return byFirstBytes(stream ? result : { ...result, body: atMost(maxBytesOf(api), result.body) }, api);
  };
}

async function byFirstBytes(answer: Sent, api: ProviderApi): Promise<ReceivedAnswer | NoAnswer> {
  const bytes = answer.body[Symbol.asyncIterator]();
  const first = await bytes.next();
  const start = first.done === true ? '' : startOf(first.value);
  const body = withFirst(first, bytes);
  if (!isWhole(start, answer, api)) return { ...answer, isStream: true, body };
  // Its memory is reserved as the bytes of one event, until the call ends.
  const text = await readText(body, maxBytesOf(api));
  // The whole body has arrived.
  answer.drain();
  if (text !== undefined) return byText({ ...answer, drain: () => {} }, text, api);
  const unusedAnswer = { usage: undefined, outputBytes: maxBytesOf(api) };
  return { kind: 'failure', failure: { kind: 'failed', cause: 'answer_too_large', unusedAnswer } };
}

/** Returns the bound of an answer. Images are long, but are not parsed. */
const maxBytesOf = (api: ProviderApi): number => (api === 'images' ? largeBodyMaxBytes : upstreamBodyMaxBytes);

function byText(answer: Sent, text: string | undefined, api: ProviderApi): ReceivedAnswer | Promise<ReceivedAnswer> {
  const isEvents = text !== undefined && eventStart.test(text);
  const isList = text !== undefined && api === 'generate-content' && /^\s*\[/.test(text);
  return isEvents || isList ? streamByText(answer, text, isEvents) : wholeByText(answer, text);
}

const wholeByText = (answer: Sent, text: string | undefined): ReceivedAnswer => ({
  ...answer,
  isStream: false,
  readText: onlyOnce(text),
});

async function streamByText(answer: Sent, text: string, isEvents: boolean): Promise<ReceivedAnswer> {
  // The module is loaded with the first stream that came as a whole text.
  const body = await (await import('./other-delivery.ts')).streamIn(text, isEvents);
  return body === undefined ? wholeByText(answer, text) : { ...answer, isStream: true, body: bytesInTurns(body) };
}

/** Yields the bytes up to a bound. Rejects with a RangeError beyond it. */
async function* atMost(maxBytes: number, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let leftBytes = maxBytes;
  for await (const piece of body) {
    leftBytes -= piece.length;
    if (leftBytes < 0) throw new RangeError('answer too large');
    yield piece;
  }
}

/** Matches a line of an event, or a comment. JSON begins with neither. */
const eventStart = /^\s*(?:(?:data|event|id|retry)\s*:|:)/;

/**
 * Matches types of audio without a head, which may begin as JSON does. Any other audio that begins so is JSON with a
 * wrong type.
 */
const rawSamples = /^audio\/(?:x-)?(?:pcm|raw|l16)\b/i;

/**
 * True for JSON, and for the text of a transcription if its type is not the type of events, because a first piece may
 * be too short to show the difference.
 */
function isWhole(start: string, { contentType }: Sent, api: ProviderApi): boolean {
  if (rawSamples.test(contentType)) return false;
  if (start === '') return /application\/json|text\/plain/.test(contentType);
  if (/^[{[]/.test(start)) return true;
  return api === 'transcriptions' && !contentType.includes('event-stream') && !eventStart.test(start);
}

/** Returns the start without blanks and a byte-order mark before it. */
const startOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, startMaxBytes))
    .toString()
    .replace(/^[\s\ufeff]+/, '');
const startMaxBytes = 64;

/** Yields all bytes, the first of which were read already. */
function withFirst(first: IteratorResult<Uint8Array>, bytes: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let isGiven = false;
  const next = () => {
    if (isGiven) return bytes.next();
    isGiven = true;
    return Promise.resolve(first);
  };
  // The iterator has no `return`, so that the rest is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** Returns a function that returns the text once, so that only its reader refers to it. */
function onlyOnce(text: string | undefined): CandidateAnswer['readText'] {
  let unread = text;
  return () => {
    const unreadText = unread;
    unread = undefined;
    return Promise.resolve(unreadText);
  };
}
