// Implements OpenAI's Speech. The answer is a tone for each word, as the bytes of a WAV file, or as events.
import { type SimulatedCompletion, type TokenCounts, usageMember } from '../answer.ts';
import type { Received, SimulatorCall } from '../call.ts';
import { jsonFrame, serverSentEvent } from '../frames.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { tokensOf } from '../tokens.ts';
import { wholeFormat } from './openai-whole.ts';

interface SpeechBody {
  readonly model: string;
  readonly input: string;
  readonly voice: unknown;
  readonly response_format?: string | null;
  readonly stream_format?: string | null;
}

const inputMaxCharacters = 4_096;
const samplesPerSecond = 24_000;
const samplesPerWord = 1_200;
const bytesPerSample = 2;
const wordsMax = 200;

function read({ body }: Received): ModelRequest | string {
  const { model, input, voice } = (body ?? {}) as SpeechBody;
  if (typeof model !== 'string' || model === '') return 'you must provide a model parameter';
  if (typeof input !== 'string' || input === '') return "[{'type': 'missing', 'loc': ('body', 'input')}]";
  if (input.length > inputMaxCharacters) return "[{'type': 'string_too_long', 'loc': ('body', 'input')}]";
  if (voice === undefined) return "[{'type': 'missing', 'loc': ('body', 'voice')}]";
  return { ...plainRequest, model, isStream: true, turns: [{ role: 'user', text: input }] };
}

const wordsOf = (input: string): readonly string[] => tokensOf(input).slice(0, wordsMax);

/** Returns a tone, of another pitch at each position. */
function toneOf(place: number): Buffer {
  const samples = Int16Array.from({ length: samplesPerWord }, (_, at) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * (220 + 20 * (place % 12)) * at) / samplesPerSecond)),
  );
  return Buffer.from(samples.buffer);
}

function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond * bytesPerSample, 28);
  header.writeUInt16LE(bytesPerSample, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write('data', 36);
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Returns the pieces of the audio that speaks a text. */
export function spokenPieces(input: string, format?: string | null): readonly Buffer[] {
  const tones = wordsOf(input).map((_word, place) => toneOf(place));
  const dataBytes = tones.reduce((sum, { length }) => sum + length, 0);
  return format === 'pcm' ? tones : [wavHeader(dataBytes), ...tones];
}

const asEvents = ({ stream_format: delivery }: SpeechBody): boolean => delivery === 'sse';

function frames({ body }: SimulatorCall, completion: SimulatedCompletion) {
  const request = body as SpeechBody;
  const pieces = spokenPieces(request.input, request.response_format);
  if (!asEvents(request)) {
    return pieces.map((piece) => ({ carries: 'output', event: 'bytes', text: piece.toString('latin1') }) as const);
  }
  return [
    ...pieces.map((piece) => jsonFrame('output', { type: 'speech.audio.delta', audio: piece.toString('base64') })),
    jsonFrame('finish', { type: 'speech.audio.done', ...usageMember('usage', completion, usageJson) }),
  ];
}

const usageJson = ({ input, output }: TokenCounts) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
});

const audioTypes: Readonly<Record<string, string>> = { pcm: 'audio/pcm' };

export const speech = wholeFormat({
  name: 'speech',
  path: /^\/audio\/speech$/,
  answerMembers: ['type'],
  read,
  json: () => ({}),
  frames,
  encode: (frame) => (frame.event === 'bytes' ? Buffer.from(frame.text, 'latin1') : serverSentEvent(frame)),
  streamTypeOf: (body) =>
    asEvents(body as SpeechBody)
      ? 'text/event-stream; charset=utf-8'
      : (audioTypes[(body as SpeechBody).response_format ?? ''] ?? 'audio/wav'),
  errorFrames: (_call, _completion, code) => [
    jsonFrame('other', { type: 'error', error: { code: code ?? 'server_error', message: 'The server had an error.' } }),
  ],
});
