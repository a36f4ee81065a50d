// Input and output sizes of a Messages call.
import { type CallSize, isJsonObject, type JsonObject, toCount } from '../../wire/index.ts';
import { bringsInput, claudeToolTokens, type Media } from '../index.ts';
import type { MessagesMembers } from './messages-request.ts';
import { declaredTools } from './offered-tools.ts';

export function callSizeOf(
  { raw, text, maxOutputTokens, providerState }: MessagesMembers,
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
    mediaTokens: tokens === undefined || bringsInput(providerState) ? undefined : tokens * samplings,
    claudeToolTokens: toolTokensOf(raw) * samplings,
    hasMediaElsewhere: isElsewhere,
    contexts: samplings,
    answersMax: 1,
  };
}

export const toolTokensOf = (raw: JsonObject): number =>
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
