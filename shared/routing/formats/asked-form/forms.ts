// Turns a relayed answer into its other form: a whole one into events, events into a whole one.
import { type InterfaceId, upstreamEventMaxBytes } from '../../../foundation/constants/index.ts';
import { nextTurn } from '../../../foundation/time/index.ts';
import { readInTurns } from '../../../protocol/interfaces/index.ts';
import { type EventText, findMember, readEvents, toEventLine } from '../../../protocol/wire/index.ts';
import { type NoAnswer, type ReceivedAnswer, readStream } from '../../providers/index.ts';
import type { AnswerForm, AskedAnswer } from './answer-form.ts';
import { chatForm } from './chat-form.ts';
import { imageEditForm, imageForm } from './image-form.ts';
import { messageForm } from './message-form.ts';
import { failureOfAnswer, unreadableAnswer } from './read-failure.ts';
import { responseForm } from './response-form.ts';
import { transcriptionForm } from './transcription-form.ts';

export { speechBytes, speechEvents } from './speech-form.ts';

/** Interfaces that are relayed, and may stream. */
const answerForms: Readonly<Partial<Record<InterfaceId, AnswerForm>>> = {
  'chat-completions': chatForm,
  messages: messageForm,
  responses: responseForm,
  compact: responseForm,
  images: imageForm,
  'image-edits': imageEditForm,
  transcriptions: transcriptionForm,
};

export async function inOtherForm(
  sent: ReceivedAnswer,
  { interfaceId, choices }: AskedAnswer,
): Promise<ReceivedAnswer | NoAnswer> {
  const form = answerForms[interfaceId];
  if (form === undefined) return unreadableAnswer;
  return sent.isStream ? asWhole(sent, form, choices) : asStream(sent, form);
}

async function asStream(sent: ReceivedAnswer, form: AnswerForm): Promise<ReceivedAnswer | NoAnswer> {
  const text = await sent.readText();
  if (text === undefined) return unreadableAnswer;
  const read = await form.readAnswer(text);
  if (read.kind !== 'answer') return failureOfAnswer(read, sent.describe);
  return { ...sent, isStream: true, body: bytesOf(form.spread(read.answer)), endCame: () => {} };
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

async function asWhole(sent: ReceivedAnswer, form: AnswerForm, choices: number): Promise<ReceivedAnswer | NoAnswer> {
  const fold = form.openFold();
  const source = { describe: sent.describe, eventCame: () => {}, endCame: () => {} };
  const batches = readStream(readEvents(sent.body, upstreamEventMaxBytes), form.openReader(choices), source);
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
