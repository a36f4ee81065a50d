// Implements OpenAI's Transcriptions. The answer is the text of a file in a multipart form, as JSON, text, subtitles or
// events.
import { choiceOf, piecesOf, type SimulatedCompletion, type TokenCounts, usageMember } from '../answer.ts';
import type { Received, SimulatorCall } from '../call.ts';
import { jsonFrame, serverSentEvent } from '../frames.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { wholeFormat } from './openai-whole.ts';

interface TranscriptionsBody {
  readonly model: string;
  readonly file?: unknown;
  readonly prompt?: string;
  readonly response_format?: string;
  readonly stream?: string;
}

function read({ body }: Received): ModelRequest | string {
  const { model, file, prompt, stream } = (body ?? {}) as TranscriptionsBody;
  if (typeof model !== 'string' || model === '') return 'you must provide a model parameter';
  if (file === undefined) return "[{'type': 'missing', 'loc': ('body', 'file')}]";
  return { ...plainRequest, model, isStream: stream === 'true', turns: [{ role: 'user', text: prompt ?? 'audio' }] };
}

const defaultSeconds = 2.5;
/** Returns the duration of the file, which a request may state in its prompt. */
const secondsIn = ({ prompt = '' }: TranscriptionsBody): number =>
  Number(/plays ([\d.]+) s/.exec(prompt)?.[1] ?? defaultSeconds);
const textOf = (completion: SimulatedCompletion): string => choiceOf(completion).content ?? '';

/** Returns the usage; models with Whisper in their name report the duration. */
const usageOf = (body: TranscriptionsBody, completion: SimulatedCompletion) =>
  /whisper/.test(completion.model)
    ? { usage: { type: 'duration', seconds: secondsIn(body) } }
    : usageMember('usage', completion, ({ input, output }: TokenCounts) => ({
        type: 'tokens',
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
      }));

function json({ body: receivedBody }: SimulatorCall, completion: SimulatedCompletion): object {
  const body = receivedBody as TranscriptionsBody;
  const text = textOf(completion);
  const seconds = secondsIn(body);
  if (body.response_format !== 'verbose_json') return { text, ...usageOf(body, completion) };
  const segments = [{ id: 0, start: 0, end: seconds, text }];
  return { task: 'transcribe', language: 'english', duration: seconds, text, segments, ...usageOf(body, completion) };
}

const texts: Readonly<Record<string, (text: string) => string>> = {
  text: (text) => `${text}\n`,
  srt: (text) => `1\n00:00:00,000 --> 00:00:02,500\n${text}\n\n`,
  vtt: (text) => `WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n${text}\n\n`,
};

export const transcriptions = wholeFormat({
  name: 'transcriptions',
  path: /^\/audio\/transcriptions$/,
  answerMembers: ['text', 'type'],
  streamType: 'text/event-stream; charset=utf-8',
  read,
  json,
  text: ({ body }, completion) => texts[(body as TranscriptionsBody).response_format ?? '']?.(textOf(completion)),
  frames: ({ body }, completion) => [
    ...piecesOf(choiceOf(completion)).map((delta) => jsonFrame('output', { type: 'transcript.text.delta', delta })),
    jsonFrame('finish', {
      type: 'transcript.text.done',
      text: textOf(completion),
      ...usageOf(body as TranscriptionsBody, completion),
    }),
  ],
  encode: serverSentEvent,
  errorFrames: (_call, _completion, code) => [
    jsonFrame('other', { type: 'error', error: { code: code ?? 'server_error', message: 'The server had an error.' } }),
  ],
});
