// Speech in its other delivery: bytes although events were asked for, which some models do not make, or the reverse.
import { upstreamEventMaxBytes } from '../../../foundation/constants/index.ts';
import { answerJson, BytesEvent } from '../../../protocol/interfaces/index.ts';
import { speech } from '../../../protocol/interfaces/speech/index.ts';
import { findMember, readEvents, toEventLine } from '../../../protocol/wire/index.ts';
import { type CandidateAnswer, type EventBatch, readStream } from '../../providers/index.ts';
import { stringAt } from './answer-form.ts';

/** Each piece is whole: clients join what they decode. */
export async function* speechEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of body) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64');
    if (audio !== '') yield eventOf({ type: 'speech.audio.delta', audio });
  }
  yield eventOf({ type: 'speech.audio.done' });
}

const eventOf = (event: { readonly type: string; readonly audio?: string }): Uint8Array =>
  Buffer.from(toEventLine(JSON.stringify(event), event.type));

/** The audio of events, under the type that the client asked for. Ends where its provider says so. */
export async function* speechBytes(
  { body, eventCame, ...source }: CandidateAnswer,
  contentType: string,
): AsyncGenerator<EventBatch, void, undefined> {
  const came = { ...source, eventCame };
  for await (const batch of readStream(readEvents(body, upstreamEventMaxBytes), speech.openEventReader(1), came)) {
    yield { ...batch, events: batch.events.flatMap((event) => bytesOf(event, contentType)) };
  }
}

function bytesOf({ text, details }: EventBatch['events'][number], contentType: string): BytesEvent[] {
  if (details.isEndMarker === true) return [];
  const audio = details.hasOutput ? stringAt(answerJson(text), findMember(answerJson(text), 'audio')) : '';
  const bytes = Buffer.from(audio ?? '', 'base64').toString('latin1');
  // The last event has the usage.
  return bytes === '' && details.usage === undefined ? [] : [new BytesEvent(contentType, bytes, details.usage)];
}
