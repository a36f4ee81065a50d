// Counts of the tokens of a prompt: a provider's, and the gateway's estimate where the provider of the model cannot count. Agents
// shorten their conversation by the number, and one that is too low makes them exceed the context, so the estimate is high.

import type { JsonAnswer, ReadAnswer } from '../wire/index.ts';
import { type CallSize, type JsonText, pick, scanJson, type UsageReport } from '../wire/index.ts';
import { readErrorObject, readInTurns } from './answer-json.ts';
import type { Media } from './media-tokens.ts';
import { membersOf } from './read-members.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** A count costs nothing. */
export const nothingUsed: UsageReport = {
  tokens: { input: 0, cached: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
  members: {},
};

export const sizeOfCount = (size: CallSize): CallSize => ({
  ...size,
  textBytes: 0,
  mediaTokens: 0,
  maxOutputTokens: 0,
  isOutputOpen: false,
  namesNoBound: false,
  claudeToolTokens: 0,
  hasMediaElsewhere: false,
  // No request to the model, where those have a price.
  units: { requests: 0 },
});

const countShape = membersOf({ type: {}, error: {}, input_tokens: {} });

export const readTokenCount = async (text: string): Promise<ReadAnswer> =>
  (await readInTurns(text, readCount)) ?? { kind: 'unreadable' };

async function readCount(json: JsonText): Promise<ReadAnswer> {
  const { type, error, input_tokens: tokens } = pick(json, 0, countShape) as Record<string, unknown>;
  if (type === 'error' || (error ?? null) !== null) return { kind: 'error', error: readErrorObject(json) };
  if (typeof tokens !== 'number') return { kind: 'unreadable' };
  return { kind: 'answer', answer: { text: json.text, json, usage: nothingUsed, outputBytes: 0 } };
}

interface CountedPrompt {
  readonly text: string;
  readonly media: Media;
  /** Of the prompt that a provider writes for tools. */
  readonly toolTokens: number;
}

/** Tokenizers differ, and the conversation has marks of its own. */
const margin = 1.1;
/** Tokens of an image or a document of unknown size. */
const unknownMediaTokens = 4_784;

/** `beside`: the rest of the answer. */
export async function estimateCount(
  { text, media, toolTokens }: CountedPrompt,
  beside: object,
  nextStep: () => Promise<void>,
  countMember = 'input_tokens',
): Promise<JsonAnswer> {
  await nextStep();
  const counted = await estimateTextTokens(text, nextStep);
  // Media in the text are counted by their pixels.
  const mediaShare = Math.min(1, media.dataCharacters / Math.max(1, counted.longRunCharacters));
  const textTokens = counted.tokens - counted.longRunTokens * mediaShare;
  const inputTokens = Math.ceil(textTokens * margin) + (media.tokens ?? unknownMediaTokens) + toolTokens;
  const body = JSON.stringify({ ...beside, [countMember]: inputTokens });
  const scanned = scanJson(body, { depthMax: 1 });
  if (scanned.kind !== 'json') throw new Error('a count that is no JSON');
  return { text: body, json: scanned.json, usage: nothingUsed, outputBytes: 0 };
}
