// The stream of a transcription: pieces of its text, and all of it at the end. Relayed byte for byte.
import {
  brokenStreamMessages,
  type EventReader,
  type EventReading,
  isEndMarker,
  isJsonObject,
  toEventLine,
} from '../../wire/index.ts';
import { endMarkerEvent, ParsedEvent, parseEvent, type StreamWriter } from '../index.ts';
import { readTranscriptionUsage } from './transcription-answer.ts';

export function openTranscriptionReader(): EventReader {
  let isDone = false;
  return {
    read({ name, text }): EventReading {
      if (isEndMarker(text)) return { kind: 'event', event: endMarkerEvent(name, text) };
      const event = parseEvent(text);
      if (event === undefined) return { kind: 'unreadable' };
      if (event.type === 'error' || isJsonObject(event.error))
        return { kind: 'error', error: isJsonObject(event.error) ? event : { error: event } };
      const isLast = event.type === 'transcript.text.done';
      isDone ||= isLast;
      const usage = isLast ? readTranscriptionUsage(event.usage) : undefined;
      const outputBytes = typeof event.delta === 'string' ? Buffer.byteLength(event.delta) : 0;
      const hasOutput = typeof event.type === 'string' && event.type.startsWith('transcript.text.');
      return { kind: 'event', event: new ParsedEvent(name, text, { hasOutput, isLast, usage, outputBytes }) };
    },
    isComplete: () => isDone,
    mayBeMarked: true,
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
