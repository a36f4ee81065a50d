// The interface of speech: a text in, audio out, as bytes that are relayed as they come, or as events.
import * as z from 'zod/mini';
import type { JsonText } from '../../wire/index.ts';
import { type BytesAnswer, plainMembers, type RelayedInput, relayedInterface, withCostHeader } from '../index.ts';
import { openSpeechReader, openSpeechWriter } from './speech-events.ts';

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
  // No answer comes whole.
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

/** Types by the words of a request. */
const typesOfFormats: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};
const audioType = /^audio\/[\w.+-]{1,64}(; ?[\w-]{1,32}=[\w-]{1,32}){0,4}$/;
/** Of servers that do not say what their bytes are. */
const unnamed = /^$|^(application|binary)\/octet-stream/;

const bytesOf = (format: string): BytesAnswer => ({
  accept: '*/*',
  typeOf(contentType) {
    if (audioType.test(contentType)) return contentType;
    if (unnamed.test(contentType) || contentType.startsWith('audio/')) return typesOfFormats[format] ?? 'audio/mpeg';
    return undefined;
  },
});
