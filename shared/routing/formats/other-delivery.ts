// Turns a relayed answer into its other delivery: a whole one into events, events into a whole one. Errors stay as they
// came.
import { upstreamEventMaxBytes } from '../../foundation/constants/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import { type ClientInterface, type OtherDelivery, readInTurns } from '../../protocol/interfaces/index.ts';
import { type EventText, findMember, readEvents, toEventLine } from '../../protocol/wire/index.ts';
import { type NoAnswer, type ReceivedAnswer, readStream } from '../providers/index.ts';
import { failureOfAnswer, unreadableAnswer } from './failure-of-answer.ts';

export type InOtherDelivery = typeof inOtherDelivery;

/** `choices`: of the request. */
export async function inOtherDelivery(
  received: ReceivedAnswer,
  clientInterface: ClientInterface,
  choices: number,
): Promise<ReceivedAnswer | NoAnswer> {
  const { otherDelivery } = await clientInterface.grammar();
  if (otherDelivery === undefined) return unreadableAnswer;
  const form = { ...otherDelivery, ...clientInterface };
  return received.isStream ? asWhole(received, form, choices) : asStream(received, form);
}

type Form = OtherDelivery & Pick<ClientInterface, 'openEventReader' | 'readAnswer'>;

async function asStream(sent: ReceivedAnswer, form: Form): Promise<ReceivedAnswer | NoAnswer> {
  const text = await sent.readText();
  if (text === undefined) return unreadableAnswer;
  const read = await form.readAnswer(text);
  if (read.kind !== 'answer') return failureOfAnswer(read, sent.describe);
  return { ...sent, isStream: true, body: bytesOf(form.toEvents(read.answer)), endCame: () => {} };
}

async function* bytesOf(events: Iterable<EventText>): AsyncGenerator<Uint8Array, void, undefined> {
  for (const { name, text } of events) {
    const line = toEventLine(text, name);
    // An image of megabytes takes a turn to be written, to be copied and to be read.
    await nextTurn();
    const bytes = Buffer.from(line);
    await nextTurn();
    yield bytes;
  }
}

async function asWhole(sent: ReceivedAnswer, form: Form, choices: number): Promise<ReceivedAnswer | NoAnswer> {
  const fold = form.openFold();
  const source = { describe: sent.describe, eventCame: () => {}, endCame: () => {} };
  const batches = readStream(readEvents(sent.body, upstreamEventMaxBytes), form.openEventReader(choices), source);
  for await (const { events, failure } of batches) {
    if (failure !== undefined) return { kind: 'failure', failure };
    for (const event of events) fold.add(event.text);
  }
  const text = await fold.whole(nextTurn);
  return { ...sent, isStream: false, readText: async () => text };
}

/** The body of a stream that came as one text: events, or a list of chunks, which Gemini sends where events are not asked for. */
export async function streamIn(text: string, isEvents: boolean): Promise<AsyncIterable<Uint8Array> | undefined> {
  if (isEvents) return inPieces(text);
  const chunks = await readInTurns(`{"chunks":${text}}`, async (json) => {
    const list = findMember(json, 'chunks');
    return list === undefined || !json.isArray(list)
      ? undefined
      : Array.from(json.inside(list), (one) => ({ text: json.slice(one) }));
  });
  return chunks && bytesOf(chunks);
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
