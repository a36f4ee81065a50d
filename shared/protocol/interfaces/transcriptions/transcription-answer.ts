// Reads a provider's transcription: JSON, or a text (`text`, `srt`, `vtt`), and hands it on as it came.
import {
  type AnswerCost,
  isJsonObject,
  type JsonAnswer,
  jsonTextOf,
  pick,
  type ReadAnswer,
  toCount,
  type UsageReport,
  type WrittenAnswer,
} from '../../wire/index.ts';
import { membersOf, readErrorObject, readInTurns, readUnscanned, readUsageMember, withCostHeader } from '../index.ts';

const factsShape = membersOf({ object: {}, error: {}, model: {}, text: {}, duration: {} });
const noJson = jsonTextOf({});

export async function readTranscription(text: string): Promise<ReadAnswer> {
  if (!/^\s*\{/.test(text)) return readText(text);
  const read = await readInTurns(text, async (json): Promise<ReadAnswer> => {
    const { object, error, text: transcript, model, duration } = pick(json, 0, factsShape) as Record<string, unknown>;
    // vLLM says with status 200 that its model transcribes nothing: https://github.com/vllm-project/vllm-ascend/issues/1035.
    if ((error ?? null) !== null || object === 'error') return { kind: 'error', error: readErrorObject(json) };
    if (typeof transcript !== 'string') return { kind: 'unreadable' };
    const usage = readTranscriptionUsage(readUsageMember(json)) ?? reportedLength(duration);
    const modelName = typeof model === 'string' ? model : undefined;
    return {
      kind: 'answer',
      answer: { text, json, usage, outputBytes: Buffer.byteLength(transcript), model: modelName },
    };
  });
  return read ?? readUnscanned(text, readTranscriptionUsage);
}

function readText(text: string): ReadAnswer {
  // No provider answers with a page, and silence is a text of its own.
  if (/^\s*<(!doctype|html)/i.test(text)) return { kind: 'unreadable' };
  const outputBytes = Buffer.byteLength(text);
  return { kind: 'answer', answer: { text, json: noJson, isPlain: true, usage: undefined, outputBytes } };
}

const noTokens = { cached: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0, input: undefined, output: undefined };

/** By tokens, which are of sound where details say no more; or by the length that is billed. */
export function readTranscriptionUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  // Mistral's name of it is the second.
  const seconds = [usage.seconds, usage.prompt_audio_seconds].find((length) => typeof length === 'number');
  if (seconds !== undefined) return reportedLength(seconds, usage);
  const input = toCount(usage.input_tokens) ?? toCount(usage.prompt_tokens);
  const details = isJsonObject(usage.input_token_details) ? usage.input_token_details : { audio_tokens: input };
  const tokens = { ...noTokens, input, output: toCount(usage.output_tokens) ?? toCount(usage.completion_tokens) };
  return { tokens: { ...tokens, media: { audioInput: toCount(details.audio_tokens) ?? 0 } }, members: usage };
}

/** Of `verbose_json`, where nothing else is reported. */
const reportedLength = (seconds: unknown, members = {}): UsageReport | undefined =>
  typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds)
    ? { tokens: noTokens, seconds, members }
    : undefined;

export function writeTranscription(answer: JsonAnswer, cost: AnswerCost): WrittenAnswer {
  const written = withCostHeader(answer, cost);
  if (answer.isPlain !== true) return written;
  return { ...written, headers: { ...written.headers, 'content-type': 'text/plain; charset=utf-8' } };
}
