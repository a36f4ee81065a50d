// The interface of transcriptions: a file of audio in, its text out, as JSON, text or events.
import * as z from 'zod/mini';
import { fail } from '../../../errors/index.ts';
import type { FormBody } from '../../forms/index.ts';
import type { JsonObject, JsonText } from '../../wire/index.ts';
import { plainMembers, type RelayedInput, relayedInterface } from '../index.ts';
import { readTranscription, writeTranscription } from './transcription-answer.ts';
import { openTranscriptionReader, openTranscriptionWriter } from './transcription-events.ts';

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

/** Before the request is read: what it can cost depends on it. */
async function measureForm(form: FormBody): Promise<void> {
  const { audioSeconds } = await import('./audio-length.ts');
  let sum: number | undefined = 0;
  for (const { bytes } of form.filesOf('file')) {
    const seconds = await audioSeconds(bytes);
    sum = sum === undefined || seconds === undefined ? undefined : sum + seconds;
  }
  form.seconds = sum;
}

/** Speech at 8 kbit/s, for a file whose frames cannot be walked. */
const bytesPerSecond = 1_000;
/** Gemini's, the most of any model that is billed by tokens of audio (ai.google.dev/gemini-api/docs/tokens, November 2026). */
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
