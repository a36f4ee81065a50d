// How much of a Messages call goes in, and how much may come out.
import { type CallSize, isJsonObject, type JsonObject, scanJson, toCount } from '../../wire/index.ts';
import { bringsInput, claudeToolTokens, type JsonAnswer, type Media } from '../index.ts';
import { readUsageReport } from './message-usage.ts';
import type { MessagesMembers } from './messages-request.ts';
import { declaredTools } from './offered-tools.ts';
import { estimateTextTokens } from './text-tokens.ts';

export function callSizeOf(
  { raw, text, maxOutputTokens, keptInput }: MessagesMembers,
  { tokens, dataCharacters, isElsewhere }: Media,
): CallSize {
  // The provider reads all of it, writes a summary, and only then the message: two answers on one bill.
  const answers = asksForCompaction(raw.context_management) ? 2 : 1;
  // Each use of an advisor is an answer of a model that reads all of it, behind which the model itself reads on.
  const advices = advicesMax(raw.tools);
  const samplings = answers + 2 * advices;
  return {
    // Thinking is part of it.
    maxOutputTokens,
    isOutputOpen: false,
    choices: answers,
    predictionBytes: 0,
    ...(advices > 0 && { answersBeside: advices }),
    textBytes: (text().compactBytes - dataCharacters) * samplings,
    // What a provider keeps comes into the context too, and only the context bounds it.
    mediaTokens: tokens === undefined || bringsInput(keptInput) ? undefined : tokens * samplings,
    claudeToolTokens: toolTokensOf(raw) * samplings,
    hasMediaElsewhere: isElsewhere,
    contexts: samplings,
    answersMax: 1,
  };
}

const toolTokensOf = (raw: JsonObject): number =>
  claudeToolTokens(
    declaredTools(raw).map(({ tool }) => tool),
    [isJsonObject(raw.output_config) ? raw.output_config.format : undefined, raw.output_format].some(isJsonObject),
  );

const compaction = /^compact(_|$)/;

function asksForCompaction(management: unknown): boolean {
  const edits = isJsonObject(management) && Array.isArray(management.edits) ? management.edits : [];
  return edits.some((edit) => isJsonObject(edit) && typeof edit.type === 'string' && compaction.test(edit.type));
}

const advisor = /^advisor(_|$)/;
/** Of a tool that does not say how often it may be used, and the most that is believed of one that does. */
const advicesDefault = 4;
const advicesBelieved = 32;

function advicesMax(tools: unknown): number {
  const advisors = (Array.isArray(tools) ? tools : []).filter(
    (tool) => isJsonObject(tool) && typeof tool.type === 'string' && advisor.test(tool.type),
  );
  return advisors.reduce<number>(
    (sum, { max_uses: uses }) => sum + Math.min(toCount(uses) ?? advicesDefault, advicesBelieved),
    0,
  );
}

// A count of tokens where the provider of the model has none. Agents shorten their conversation by it, and one that is told too little
// runs into the end of the context: the estimate is high.

/** Tokenizers differ, and the conversation has marks of its own. */
const margin = 1.1;
/** For an image or a document of which nothing is known. */
const unknownMediaTokens = 4_784;

export async function estimateCount(
  request: Pick<MessagesMembers, 'raw' | 'text'>,
  { tokens, dataCharacters }: Media,
  nextStep: () => Promise<void>,
): Promise<JsonAnswer> {
  await nextStep();
  const text = await estimateTextTokens(request.text().text, nextStep);
  // What of the media stands in the text is counted by their pixels.
  const mediaShare = Math.min(1, dataCharacters / Math.max(1, text.longRunCharacters));
  const textTokens = text.tokens - text.longRunTokens * mediaShare;
  const inputTokens = Math.ceil(textTokens * margin) + Number(tokens ?? unknownMediaTokens) + toolTokensOf(request.raw);
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
