// Defines the interface of speech, with text as input and audio as output, as bytes that are relayed as they arrive, or
// as events.
import * as z from 'zod/mini';
import {
  brokenStreamMessages,
  type EventReader,
  type EventReading,
  isEndMarker,
  isJsonObject,
  type JsonText,
  toCount,
  toEventLine,
  type UsageReport,
} from '../../wire/index.ts';
import {
  type BytesAnswer,
  BytesEvent,
  endMarkerEvent,
  isBytesType,
  membersOf,
  ParsedEvent,
  parseEvent,
  plainMembers,
  type RelayedInput,
  relayedInterface,
  type StreamWriter,
  withCostHeader,
} from '../index.ts';

/** Shape of an event; the audio is skipped, and never becomes a value. */
const eventShape = membersOf({
  type: {},
  error: membersOf({ code: {}, type: {}, message: {}, param: {} }),
  usage: membersOf({ input_tokens: {}, output_tokens: {}, total_tokens: {} }),
});

/** Opens a writer. Bytes have no end marker and no error, so the connection is cut if they break. */
const openSpeechWriter = (): StreamWriter => ({
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

const word = z.nullish(z.string());
const speechSchema = z.looseObject({
  ...plainMembers,
  input: z.string().check(z.minLength(1)),
  voice: z.nullish(z.union([z.string(), z.looseObject({ id: z.string() })])),
  instructions: word,
  response_format: word,
  speed: z.nullish(z.number()),
  stream_format: word,
});
type SpeechBody = z.infer<typeof speechSchema>;

export const speech = relayedInterface({
  id: 'speech',
  telemetryOperation: 'generate_content',
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  upstreamPath: '/audio/speech',
  takesLong: true,
  schema: speechSchema,
  promptMember: 'input',
  readInput,
  streams: { openEventReader: openSpeechReader, openStreamWriter: openSpeechWriter },
  // Every answer is a stream, so none is read as a whole.
  readAnswer: async () => ({ kind: 'unreadable' }),
  writeAnswer: withCostHeader,
});

function readInput(
  _json: JsonText,
  { input, response_format: format, stream_format: delivery }: SpeechBody,
): RelayedInput {
  return {
    stream: true,
    ...(delivery === 'sse' ? {} : { bytes: bytesOf(format ?? 'mp3') }),
    size: {
      maxOutputTokens: undefined,
      isOutputOpen: true,
      units: { characters: [...input].length },
    },
    promptBytes: Buffer.byteLength(input),
  };
}

/** Media types by the values of a request. */
const typesOfFormats: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};
const audioType = /^audio\/[\w.+-]{1,64}(; ?[\w-]{1,32}=[\w-]{1,32}){0,4}$/;
/** Matches the media types of servers that do not declare the type of their bytes. */
const unnamed = /^$|^(application|binary)\/octet-stream/;

const bytesOf = (format: string): BytesAnswer => ({
  accept: '*/*',
  typeOf(contentType) {
    if (audioType.test(contentType)) return contentType;
    if (unnamed.test(contentType) || contentType.startsWith('audio/')) return typesOfFormats[format] ?? 'audio/mpeg';
    return undefined;
  },
});

// Reads the stream of a request for speech, which has pieces of audio as bytes, or as events with base64, relayed byte
// for byte.

function openSpeechReader(): EventReader {
  let isDone = false;
  return {
    read({ name, text }): EventReading {
      // The answer was stored.
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
