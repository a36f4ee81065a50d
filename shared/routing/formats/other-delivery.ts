// Converts a relayed answer to its other delivery: a whole answer to events, events to a whole answer, bytes to events
// that carry the bytes and the reverse. Errors stay unchanged.
import { upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import { type ClientInterface, type OtherDelivery, readInTurns } from '../../protocol/interfaces/index.ts';
import { type EventText, findMember, readEvents, stringifyInTurns, toEventLine } from '../../protocol/wire/index.ts';
import {
  type CandidateAnswer,
  type EventBatch,
  type NoAnswer,
  type ReceivedAnswer,
  readStream,
} from '../providers/index.ts';
import { failureOfAnswer, unreadableAnswer } from './failure-of-answer.ts';

export type InClientDelivery = typeof toClientDelivery;

/**
 * Converts an answer whose delivery differs from the requested delivery, or whose type is bytes. `choices` is the
 * requested number of choices.
 */
export async function toClientDelivery(
  answer: ReceivedAnswer,
  clientInterface: ClientInterface,
  { stream, choices }: { readonly stream: boolean; readonly choices: number },
): Promise<ReceivedAnswer | NoAnswer> {
  const { otherDelivery } = await clientInterface.grammar();
  if (otherDelivery !== undefined && 'bytesOf' in otherDelivery) {
    if (!answer.isStream) return unreadableAnswer;
    return { ...answer, body: bytesOf(otherDelivery.toEvents(answer.body)) };
  }
  if (answer.isStream === stream) return answer;
  if (otherDelivery === undefined) return unreadableAnswer;
  const delivery = { ...otherDelivery, ...clientInterface };
  return answer.isStream ? asWhole(answer, delivery, choices) : asStream(answer, delivery);
}

/**
 * Yields the bytes in the events of a stream, with the media type that the client requested. The bytes end at the
 * provider's end marker.
 */
export async function* inBytes(
  { body, ...source }: CandidateAnswer,
  { grammar, openEventReader }: ClientInterface,
  contentType: string,
): AsyncGenerator<EventBatch, void, undefined> {
  const { otherDelivery } = await grammar();
  if (otherDelivery === undefined || !('bytesOf' in otherDelivery)) throw new Error('only some interfaces have bytes');
  const reader = openEventReader(1);
  for await (const batch of readStream(readEvents(body, upstreamEventMaxBytes), reader, source)) {
    yield { ...batch, events: batch.events.flatMap((event) => otherDelivery.bytesOf(event, contentType) ?? []) };
  }
}

type DeliveryInterface = OtherDelivery & Pick<ClientInterface, 'openEventReader' | 'readAnswer' | 'framing'>;

async function asStream(answer: ReceivedAnswer, delivery: DeliveryInterface): Promise<ReceivedAnswer | NoAnswer> {
  const text = await answer.readText();
  if (text === undefined) return unreadableAnswer;
  const read = await delivery.readAnswer(text);
  if (read.kind !== 'answer') return failureOfAnswer(read, answer.describe);
  return {
    ...answer,
    isStream: true,
    body: bytesOf(delivery.toEvents(read.answer), delivery.framing?.write),
    onEnd: () => {},
  };
}

async function* bytesOf(
  events: Iterable<EventText> | AsyncIterable<EventText>,
  write: (event: EventText) => Uint8Array = ({ name, text }) => Buffer.from(toEventLine(text, name)),
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const event of events) {
    // Writing, and reading, an image of megabytes takes a turn each.
    await nextTurn();
    const bytes = write(event);
    await nextTurn();
    yield bytes;
  }
}

async function asWhole(
  answer: ReceivedAnswer,
  delivery: DeliveryInterface,
  choices: number,
): Promise<ReceivedAnswer | NoAnswer> {
  const fold = delivery.openFold();
  const source = { describe: answer.describe, onEvent: () => {}, onEnd: () => {} };
  const upstreamEvents = (delivery.framing?.read ?? readEvents)(answer.body, upstreamEventMaxBytes);
  const batches = readStream(upstreamEvents, delivery.openEventReader(choices), source);
  for await (const { events, failure } of batches) {
    if (failure !== undefined) return { kind: 'failure', failure };
    for (const event of events) fold.add(event.text);
  }
  const whole = fold.whole();
  const text = typeof whole === 'string' ? whole : await stringifyInTurns(whole);
  return { ...answer, isStream: false, readText: async () => text };
}

/**
 * Returns the body of a stream that came as a whole text. The text consists of events, or is a list of chunks, which
 * Gemini sends if events are not requested.
 */
export async function streamIn(text: string, isEvents: boolean): Promise<AsyncIterable<Uint8Array> | undefined> {
  if (isEvents) return allAtOnce(text);
  const chunks = await readInTurns(`{"chunks":${text}}`, (json) => {
    const list = findMember(json, 'chunks');
    return list === undefined || !json.isArray(list)
      ? undefined
      : Array.from(json.inside(list), (one) => ({ text: json.slice(one) }));
  });
  return chunks && bytesOf(chunks);
}

function allAtOnce(text: string): AsyncIterable<Uint8Array> {
  const pieces = [Buffer.from(text)].values();
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(pieces.next()) }) };
}
