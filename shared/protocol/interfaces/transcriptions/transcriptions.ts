// Defines the interface of transcriptions, with a file of audio as input, and its text as output, in JSON, text or
// events.
import * as z from 'zod/mini';
import { fail } from '../../../errors/index.ts';
import type { FormBody } from '../../forms/index.ts';
import {
  type AnswerCost,
  brokenStreamMessages,
  type EventReader,
  type EventReading,
  isEndMarker,
  isJsonObject,
  type JsonAnswer,
  type JsonObject,
  type JsonText,
  jsonTextOf,
  pick,
  type ReadAnswer,
  toCount,
  toEventLine,
  type UsageReport,
  type WrittenAnswer,
} from '../../wire/index.ts';
import {
  endMarkerEvent,
  membersOf,
  ParsedEvent,
  parseEvent,
  plainMembers,
  type RelayedInput,
  readAnswerIn,
  readErrorObject,
  readUsageMember,
  relayedInterface,
  type StreamWriter,
  withCostHeader,
} from '../index.ts';

const factsShape = membersOf({ object: {}, error: {}, model: {}, text: {}, duration: {} });
const noJson = jsonTextOf({});

const noTokens = { cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0, input: undefined, output: undefined };

/** Returns the length that `verbose_json` reports, if nothing else is reported. */
const reportedLength = (seconds: unknown, members = {}): UsageReport | undefined =>
  typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds)
    ? { tokens: noTokens, seconds, members }
    : undefined;

/** Names of OpenAI's events by the names of Mistral's events. */
const usualTypes: Readonly<Record<string, string>> = {
  'transcription.text.delta': 'transcript.text.delta',
  'transcription.segment': 'transcript.text.segment',
  'transcription.done': 'transcript.text.done',
};

/** Maximum characters. A longer text is not a transcription of an accepted file. */
const chunksMaxCharacters = 8 * 1024 * 1024;

const openTranscriptionWriter = (): StreamWriter => ({
  event: ({ name, text, details: { isEndMarker: isMarker } }) => (isMarker ? '' : toEventLine(text, name)),
  beforeEnd: () => '',
  end: '',
  broken(code, message = brokenStreamMessages[code]) {
    return toEventLine(JSON.stringify({ type: 'error', error: { type: 'api_error', code, message } }), 'error');
  },
});

const word = z.nullish(z.string());
const transcriptionsSchema = z.looseObject({
  ...plainMembers,
  prompt: word,
  language: word,
  response_format: word,
  temperature: z.nullish(z.number()),
  stream: z.nullish(z.boolean()),
});

export const transcriptions = relayedInterface({
  id: 'transcriptions',
  telemetryOperation: 'generate_content',
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  upstreamPath: '/audio/transcriptions',
  takesLong: true,
  schema: transcriptionsSchema,
  promptMember: 'file',
  readInput,
  formFields: { numbers: new Set(['temperature']), flags: new Set(['stream']) },
  streams: { openEventReader: openTranscriptionReader, openStreamWriter: openTranscriptionWriter },
  readAnswer: readTranscription,
  writeAnswer: writeTranscription,
  measureForm,
});

/** Measures the audio before the request is read, because the request's cost depends on it. */
async function measureForm(form: FormBody): Promise<void> {
  const { audioSeconds } = await import('./audio-length.ts');
  let sum: number | undefined = 0;
  for (const { bytes } of form.filesOf('file')) {
    const seconds = await audioSeconds(bytes);
    sum = sum === undefined || seconds === undefined ? undefined : sum + seconds;
  }
  form.seconds = sum;
}

/** Bytes per second of speech at 8 kbit/s, for a file whose frames cannot be walked. */
const bytesPerSecond = 1_000;
/**
 * Gemini's tokens per second, the most of any model that is billed by tokens of audio
 * (ai.google.dev/gemini-api/docs/tokens, November 2026).
 */
const tokensPerSecond = 32;

function readInput(_json: JsonText, _body: unknown, _raw: JsonObject, form: FormBody | undefined): RelayedInput {
  const files = form?.filesOf('file') ?? [];
  if (files.length === 0) {
    const message = 'file: is missing; send multipart/form-data with a file';
    throw fail('invalid_request', { message, param: 'file' });
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes.byteLength, 0);
  const slowest = Math.ceil(bytes / bytesPerSecond);
  const seconds = Math.ceil(form?.seconds ?? slowest);
  const secondsMax = Math.max(seconds, slowest);
  return {
    size: {
      maxOutputTokens: undefined,
      isOutputOpen: true,
      mediaTokens: seconds * tokensPerSecond,
      mediaKind: 'audioInput',
      units: { seconds, secondsMax },
    },
    promptBytes: 0,
  };
}

// Reads the stream of a transcription, which has pieces of its text, and the whole text at the end. OpenAI's events are
// relayed byte for byte; events of Mistral and vLLM become events of OpenAI.

function openTranscriptionReader(): EventReader {
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

function usualEvent(event: JsonObject): JsonObject {
  const type = usualTypes[String(event.type)];
  if (type === undefined) return event;
  const { type: _type, ...rest } = event;
  if (type !== 'transcript.text.delta') return { type, ...rest };
  const { text: delta, ...others } = rest;
  return { type, delta, ...others };
}

/** Opens a reader of chunks. vLLM writes chunks like the chunks of a chat completion, and no whole text at the end. */
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

// Reads a provider's transcription, as JSON or as text (`text`, `srt`, `vtt`), and passes it on unchanged.

function readTranscription(text: string): Promise<ReadAnswer> {
  if (!/^\s*\{/.test(text)) return Promise.resolve(readText(text));
  const read = (json: JsonText): ReadAnswer => {
    const { object, error, text: transcript, model, duration } = pick(json, 0, factsShape) as Record<string, unknown>;
    // vLLM reports with status 200 that its model transcribes nothing:
    // https://github.com/vllm-project/vllm-ascend/issues/1035.
    if ((error ?? null) !== null || object === 'error') return { kind: 'error', error: readErrorObject(json) };
    if (typeof transcript !== 'string') return { kind: 'unreadable' };
    const usage = readTranscriptionUsage(readUsageMember(json)) ?? reportedLength(duration);
    const modelName = typeof model === 'string' ? model : undefined;
    return {
      kind: 'answer',
      answer: { text, json, usage, outputBytes: Buffer.byteLength(transcript), model: modelName },
    };
  };
  return readAnswerIn(text, read, readTranscriptionUsage);
}

function readText(text: string): ReadAnswer {
  // An answer is never an HTML page, and silence is an empty text.
  if (/^\s*<(!doctype|html)/i.test(text)) return { kind: 'unreadable' };
  const outputBytes = Buffer.byteLength(text);
  return { kind: 'answer', answer: { text, json: noJson, isPlain: true, usage: undefined, outputBytes } };
}

/**
 * Reads the usage by tokens, which count as audio unless details have another type, or by the length that is billed.
 */
function readTranscriptionUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  // The second name is used by Mistral.
  const seconds = [usage.seconds, usage.prompt_audio_seconds].find((length) => typeof length === 'number');
  if (seconds !== undefined) return reportedLength(seconds, usage);
  const input = toCount(usage.input_tokens) ?? toCount(usage.prompt_tokens);
  const details = isJsonObject(usage.input_token_details) ? usage.input_token_details : { audio_tokens: input };
  const tokens = { ...noTokens, input, output: toCount(usage.output_tokens) ?? toCount(usage.completion_tokens) };
  return { tokens: { ...tokens, media: { audioInput: toCount(details.audio_tokens) ?? 0 } }, members: usage };
}

function writeTranscription(answer: JsonAnswer, cost: AnswerCost): WrittenAnswer {
  const written = withCostHeader(answer, cost);
  if (answer.isPlain !== true) return written;
  return { ...written, headers: { ...written.headers, 'content-type': 'text/plain; charset=utf-8' } };
}
