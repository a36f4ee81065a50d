// Counts the tokens of a prompt at the provider, or by the gateway's estimate if the model's provider cannot count.
// Agents shorten their conversation by the count. A count that is too low makes them exceed the context, so the
// estimate is high.
import {
  type CallSize,
  type JsonAnswer,
  type JsonText,
  pick,
  type ReadAnswer,
  scanJson,
  type UsageReport,
} from '../wire/index.ts';
import { readAnswerIn, readErrorObject } from './answer-json.ts';
import type { Media } from './media-tokens.ts';
import { membersOf } from './read-members.ts';

/** Usage of a count, which costs nothing. */
export const zeroUsage: UsageReport = {
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
  // No request to the model counts, if requests have a price.
  units: { requests: 0 },
});

const countShape = membersOf({ type: {}, error: {}, input_tokens: {} });

export const readTokenCount = (text: string): Promise<ReadAnswer> => readAnswerIn(text, readCount);

function readCount(json: JsonText): ReadAnswer {
  const { type, error, input_tokens: tokens } = pick(json, 0, countShape) as Record<string, unknown>;
  if (type === 'error' || (error ?? null) !== null) return { kind: 'error', error: readErrorObject(json) };
  if (typeof tokens !== 'number') return { kind: 'unreadable' };
  return { kind: 'answer', answer: { text: json.text, json, usage: zeroUsage, outputBytes: 0 } };
}

interface CountedPrompt {
  readonly text: string;
  readonly media: Media;
  /** Tokens of the prompt that a provider writes for tools. */
  readonly toolTokens: number;
}

/** Factor of the estimate, because tokenizers differ, and a conversation has additional markers. */
const margin = 1.1;
/** Tokens of an image or a document of unknown size. */
const unknownMediaTokens = 4_784;

/** Estimates the count. `beside` is the other fields of the answer. */
export function estimateCount(
  { text, media, toolTokens }: CountedPrompt,
  beside: object,
  countMember = 'input_tokens',
): JsonAnswer {
  const counted = estimateTextTokens(text);
  // Media in the text are counted by their pixels.
  const mediaShare = Math.min(1, media.dataCharacters / Math.max(1, counted.longRunCharacters));
  const textTokens = counted.tokens - counted.longRunTokens * mediaShare;
  const inputTokens = Math.ceil(textTokens * margin) + (media.tokens ?? unknownMediaTokens) + toolTokens;
  const body = JSON.stringify({ ...beside, [countMember]: inputTokens });
  const scanned = scanJson(body, { depthMax: 1 });
  if (scanned.kind !== 'json') throw new Error('a count that is no JSON');
  return { text: body, json: scanned.json, usage: zeroUsage, outputBytes: 0 };
}

// Estimates the most tokens of a text under common tokenizers, by its characters. A token is a short word of English, a
// digit, or half a character of other scripts. For most texts the result is at least the real number, and at most twice
// the real number.

/** Length of a text without a space from which it counts as media, or as expensive as media. */
const longRunMinCharacters = 1_024;

interface TextTokens {
  readonly tokens: number;
  /** Characters, then tokens, in long sequences of letters and digits. */
  readonly longRunCharacters: number;
  readonly longRunTokens: number;
}

const lettersPerToken = 3.3;
/** Characters per token if letters and digits are mixed: ids, hashes, base64. */
const mixedPerToken = 1.35;
const punctuationPerToken = 2.2;
const spacesPerToken = 16;
const symbolTokens = 2;
const ideographTokens = 1.35;
/**
 * Tokens per character of European letters beyond English, Cyrillic, Greek and Arabic; below, of scripts of India and
 * South-East Asia.
 */
const alphabetTokens = 1.1;
const scriptTokens = 1.4;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isLetter = (code: number): boolean => {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
};
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);
/** True for characters between letters and digits that belong to one sequence with them: `+`, `/`, `=`, `_`. */
const joins = (code: number): boolean => code === 0x2b || code === 0x2f || code === 0x3d || code === 0x5f;

/** Counts four megabytes in less than a tenth of a second, whatever they are. */
function estimateTextTokens(text: string): TextTokens {
  let tokens = 0;
  let longRunCharacters = 0;
  let longRunTokens = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (isLetter(code) || isDigit(code)) {
      const end = runEnd(text, at);
      const run = tokensOfRun(text, at, end);
      tokens += run;
      if (end - at >= longRunMinCharacters) {
        longRunCharacters += end - at;
        longRunTokens += run;
      }
      at = end;
    } else if (isSpace(code)) {
      const end = endWhere(text, at, isSpace);
      // A single space belongs to the next word.
      tokens += end - at === 1 && code === 0x20 ? 0 : 1 + (end - at) / spacesPerToken;
      at = end;
    } else {
      tokens += tokensOfCharacter(code);
      at += 1;
    }
  }
  return { tokens: Math.ceil(tokens), longRunCharacters, longRunTokens };
}

function endWhere(text: string, from: number, isIn: (code: number) => boolean): number {
  let end = from + 1;
  while (end < text.length && isIn(text.charCodeAt(end))) end += 1;
  return end;
}

const runEnd = (text: string, from: number): number =>
  endWhere(text, from, (code) => isLetter(code) || isDigit(code) || joins(code));

/** Returns the tokens of words, numbers, and other characters. */
function tokensOfRun(text: string, from: number, end: number): number {
  let digits = 0;
  let joints = 0;
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) digits += 1;
    else if (joins(code)) joints += 1;
  }
  const letters = end - from - digits - joints;
  if (letters === 0) return digits + joints;
  if (digits > 0) return (end - from) / mixedPerToken;
  // `camelCase` and `snake_case` have about as many tokens as words.
  return Math.ceil(letters / lettersPerToken) + joints;
}

function tokensOfCharacter(code: number): number {
  if (code < 0x80) return 1 / punctuationPerToken;
  if (code < 0x09_00) return alphabetTokens;
  if (code < 0x20_00) return scriptTokens;
  if (code < 0x2e_80) return symbolTokens;
  const isSurrogate = code >= 0xd8_00 && code < 0xe0_00;
  return isSurrogate || code >= 0xfe_00 ? symbolTokens : ideographTokens;
}
