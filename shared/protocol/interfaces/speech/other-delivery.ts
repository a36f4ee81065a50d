// Converts speech to its other delivery. An answer may have bytes although the client requested events, which some
// models do not produce, or the reverse.
import { type AnswerEvent, type EventText, findMember } from '../../wire/index.ts';
import { answerJson, type BytesDelivery, BytesEvent, stringAt } from '../index.ts';

export const otherDelivery: BytesDelivery = { toEvents, bytesOf };

/** Yields pieces as complete base64 texts, because clients decode each piece and join the results. */
async function* toEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<EventText, void, undefined> {
  for await (const piece of body) {
    const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64');
    if (audio !== '') yield eventOf({ type: 'speech.audio.delta', audio });
  }
  yield eventOf({ type: 'speech.audio.done' });
}

const eventOf = (event: { readonly type: string; readonly audio?: string }): EventText => ({
  name: event.type,
  text: JSON.stringify(event),
});

function bytesOf({ text, details }: AnswerEvent, contentType: string): AnswerEvent | undefined {
  if (details.isEndMarker === true) return undefined;
  const audio = details.hasOutput ? stringAt(answerJson(text), findMember(answerJson(text), 'audio')) : '';
  const bytes = Buffer.from(audio ?? '', 'base64').toString('latin1');
  // The last event has the usage.
  return bytes === '' && details.usage === undefined ? undefined : new BytesEvent(contentType, bytes, details.usage);
}
