// The stream of a transcription: pieces of its text, and all of it at the end. OpenAI's events are relayed byte for byte; those
// of Mistral and vLLM become OpenAI's.
import {
  brokenStreamMessages,
  type EventReader,
  type EventReading,
  isEndMarker,
  isJsonObject,
  type JsonObject,
  toEventLine,
} from '../../wire/index.ts';
import { endMarkerEvent, ParsedEvent, parseEvent, type StreamWriter } from '../index.ts';
import { readTranscriptionUsage } from './transcription-answer.ts';

export function openTranscriptionReader(): EventReader {
  let isDone = false;
  const chunks = openChunks();
  return {
    read({ name, text: written }): EventReading {
      const isMarker = isEndMarker(written);
      const last = isMarker ? chunks.end() : undefined;
      if (isMarker && last === undefined) return { kind: 'event', event: endMarkerEvent(name, written) };
      const payload = last ?? parseEvent(written);
      if (payload === undefined) return { kind: 'unreadable' };
      if (payload.type === 'error' || payload.object === 'error' || isJsonObject(payload.error))
        return { kind: 'error', error: isJsonObject(payload.error) ? payload : { error: payload } };
      const event = chunks.read(payload) ?? usualEvent(payload);
      const text = event === payload && last === undefined ? written : JSON.stringify(event);
      const isLast = event.type === 'transcript.text.done';
      isDone ||= isLast;
      const usage = isLast ? readTranscriptionUsage(event.usage) : undefined;
      const outputBytes = typeof event.delta === 'string' ? Buffer.byteLength(event.delta) : 0;
      const hasOutput = typeof event.type === 'string' && event.type.startsWith('transcript.text.');
      const eventName = text === written ? name : String(event.type);
      return { kind: 'event', event: new ParsedEvent(eventName, text, { hasOutput, isLast, usage, outputBytes }) };
    },
    isComplete: () => isDone,
    mayBeMarked: true,
  };
}

/** Mistral's names of events, and OpenAI's. */
const usualTypes: Readonly<Record<string, string>> = {
  'transcription.text.delta': 'transcript.text.delta',
  'transcription.segment': 'transcript.text.segment',
  'transcription.done': 'transcript.text.done',
};

function usualEvent(event: JsonObject): JsonObject {
  const type = usualTypes[String(event.type)];
  if (type === undefined) return event;
  const { type: _type, ...rest } = event;
  if (type !== 'transcript.text.delta') return { type, ...rest };
  const { text: delta, ...others } = rest;
  return { type, delta, ...others };
}

/** A longer text is no transcription of a file that is taken. */
const chunksMaxCharacters = 8 * 1024 * 1024;

/** vLLM writes chunks as of a chat, and no whole text at the end. */
function openChunks(): { read(event: JsonObject): JsonObject | undefined; end(): JsonObject | undefined } {
  let whole = '';
  let usage: unknown;
  let isBegun = false;
  return {
    read(event) {
      if (event.object !== 'transcription.chunk') return undefined;
      isBegun = true;
      usage = event.usage ?? usage;
      const choices = Array.isArray(event.choices) ? event.choices.filter(isJsonObject) : [];
      const delta = choices.map(({ delta: piece }) => (isJsonObject(piece) ? (piece.content ?? '') : '')).join('');
      if (whole.length < chunksMaxCharacters) whole += delta;
      return { type: 'transcript.text.delta', delta };
    },
    end: () =>
      isBegun ? { type: 'transcript.text.done', text: whole, ...(isJsonObject(usage) ? { usage } : {}) } : undefined,
  };
}

export const openTranscriptionWriter = (): StreamWriter => ({
  event: ({ name, text, details: { isEndMarker: isMarker } }) => (isMarker ? '' : toEventLine(text, name)),
  beforeEnd: () => '',
  end: '',
  broken(code, message = brokenStreamMessages[code]) {
    return toEventLine(JSON.stringify({ type: 'error', error: { type: 'api_error', code, message } }), 'error');
  },
});
