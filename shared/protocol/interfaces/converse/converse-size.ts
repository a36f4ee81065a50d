// Computes the input and output sizes of a Converse request.
import { type CallSize, isJsonObject, type JsonObject } from '../../wire/index.ts';
import { bringsInput, claudeToolTokens, type Media } from '../index.ts';
import { declaredTools } from './converse-needs.ts';
import type { ConverseMembers } from './converse-request.ts';

export function callSizeOf(
  { raw, text, maxOutputTokens, isOutputOpen, providerState }: ConverseMembers,
  { tokens, dataCharacters, isElsewhere }: Media,
): CallSize {
  return {
    // The bound includes thinking.
    maxOutputTokens,
    isOutputOpen,
    namesNoBound: isOutputOpen,
    choices: 1,
    predictionBytes: 0,
    textBytes: text().compactBytes - dataCharacters,
    // A file in a bucket counts too, and only the context bounds it.
    mediaTokens: bringsInput(providerState) ? undefined : tokens,
    claudeToolTokens: toolTokensOf(raw),
    hasMediaElsewhere: isElsewhere,
    contexts: 1,
    answersMax: 1,
  };
}

export function toolTokensOf({ toolConfig, outputConfig, additionalModelRequestFields: more }: JsonObject): number {
  const toolKinds = declaredTools(toolConfig).map(({ tool }) => ('toolSpec' in tool ? { type: 'custom' } : tool));
  const claudes = isJsonObject(more) && Array.isArray(more.tools) ? more.tools : [];
  const format = isJsonObject(outputConfig) ? outputConfig.textFormat : undefined;
  return claudeToolTokens([...toolKinds, ...claudes], isJsonObject(format));
}
