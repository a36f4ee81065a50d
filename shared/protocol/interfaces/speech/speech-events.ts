// The stream of a request for speech: pieces of audio as bytes, or as events with base64. Relayed byte for byte.
import {
  brokenStreamMessages,
  type EventReader,
  type EventReading,
  isEndMarker,
  isJsonObject,
  toCount,
  toEventLine,
  type UsageReport,
} from '../../wire/index.ts';
import {
  BytesEvent,
  endMarkerEvent,
  isBytesType,
  membersOf,
  ParsedEvent,
  parseEvent,
  type StreamWriter,
} from '../index.ts';

/** The audio is passed over, not made a value. */
const eventShape = membersOf({
  type: {},
  error: membersOf({ code: {}, type: {}, message: {}, param: {} }),
  usage: membersOf({ input_tokens: {}, output_tokens: {}, total_tokens: {} }),
});

export function openSpeechReader(): EventReader {
  let isDone = false;
  return {
    read({ name, text }): EventReading {
      // An answer that was stored.
      if (isBytesType(name)) return { kind: 'event', event: new BytesEvent(name, text) };
      if (isEndMarker(text)) return { kind: 'event', event: endMarkerEvent(name, text) };
      const event = parseEvent(text, eventShape);
      if (event === undefined) return { kind: 'unreadable' };
      if (event.type === 'error' || isJsonObject(event.error))
        return { kind: 'error', error: isJsonObject(event.error) ? event : { error: event } };
      const isLast = event.type === 'speech.audio.done';
      isDone ||= isLast;
      const hasOutput = event.type === 'speech.audio.delta';
      const usage = isLast ? readSpeechUsage(event.usage) : undefined;
      return { kind: 'event', event: new ParsedEvent(name, text, { hasOutput, isLast, usage, outputBytes: 0 }) };
    },
    isComplete: () => isDone,
    mayBeMarked: true,
  };
}

function readSpeechUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const output = toCount(usage.output_tokens);
  const tokens = { cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 };
  return {
    tokens: { ...tokens, input: toCount(usage.input_tokens), output, media: { audioOutput: output ?? 0 } },
    members: usage,
  };
}

/** Bytes have no end and no error: where they break, the connection is cut. */
export const openSpeechWriter = (): StreamWriter => ({
  event({ name, text, details }) {
    if (details.contentType !== undefined) return text;
    return details.isEndMarker ? '' : toEventLine(text, name);
  },
  beforeEnd: () => '',
  end: '',
  broken(code, message = brokenStreamMessages[code]) {
    return toEventLine(JSON.stringify({ type: 'error', error: { type: 'api_error', code, message } }), 'error');
  },
});
