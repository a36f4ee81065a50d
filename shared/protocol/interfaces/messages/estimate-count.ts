// A count of tokens where the provider of the model has none. Agents shorten their conversation by it, and one that is told too little
// runs into the end of the context: the estimate is high.

import { scanJson } from '../../wire/index.ts';
import type { ClientRequest, JsonAnswer } from '../index.ts';
import { mediaOf } from './message-media.ts';
import { readUsageReport } from './message-usage.ts';
import { estimateTextTokens } from './text-tokens.ts';

/** Tokenizers differ, and the conversation has marks of its own. */
const margin = 1.1;
/** For an image or a document of which nothing is known. */
const unknownMediaTokens = 4_784;

export function estimateCount(request: ClientRequest): JsonAnswer {
  const { tokens, dataCharacters } = mediaOf(request.raw.messages);
  const text = estimateTextTokens(request.text().text);
  // What of the media stands in the text is counted by their pixels.
  const mediaShare = Math.min(1, dataCharacters / Math.max(1, text.longRunCharacters));
  const textTokens = text.tokens - text.longRunTokens * mediaShare;
  const inputTokens = Math.ceil(textTokens * margin) + Number(tokens ?? unknownMediaTokens);
  const body = JSON.stringify({ input_tokens: inputTokens });
  const scanned = scanJson(body, { depthMax: 1 });
  if (scanned.kind !== 'json') throw new Error('a count that is no JSON');
  return {
    text: body,
    json: scanned.json,
    usage: readUsageReport({ input_tokens: 0, output_tokens: 0 }),
    outputBytes: 0,
  };
}
