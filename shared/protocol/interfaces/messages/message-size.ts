// Input and output sizes of a Messages call.
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
  // Each use of an advisor is an answer of a model that reads all of it, after which the model itself continues.
  const advices = advicesMax(raw.tools);
  const samplings = answers + 2 * advices;
  return {
    // Includes thinking.
    maxOutputTokens,
    isOutputOpen: false,
    choices: answers,
    predictionBytes: 0,
    ...(advices > 0 && { answersBeside: advices }),
    textBytes: (text().compactBytes - dataCharacters) * samplings,
    // Input that a provider stores counts too, and only the context bounds it.
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
/** Uses of a tool without a limit of its own, and the highest limit that is trusted. */
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

// Estimates the tokens of a prompt where the provider of the model cannot count them. Agents shorten their conversation
// by the number, and one that is too low makes them exceed the context, so the estimate is high.

/** Tokenizers differ, and the conversation has marks of its own. */
const margin = 1.1;
/** Tokens of an image or a document of unknown size. */
const unknownMediaTokens = 4_784;

export async function estimateCount(
  request: Pick<MessagesMembers, 'raw' | 'text'>,
  { tokens, dataCharacters }: Media,
  nextStep: () => Promise<void>,
): Promise<JsonAnswer> {
  await nextStep();
  const text = await estimateTextTokens(request.text().text, nextStep);
  // Media in the text are counted by their pixels.
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
