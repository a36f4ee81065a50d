// Amazon Bedrock's Converse.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { findMember, isJsonObject, type JsonText } from '../../../../protocol/wire/index.ts';
import { type HubCall, type HubTarget, instructionsFirst } from '../middle/index.ts';
import { bedrockFrames, converseUsage } from './bedrock-frames.ts';
import { atMost, readObject } from './body-members.ts';
import { anyJsonSchema, callOptions, isAnyJson } from './call-options.ts';
import { boundThinking, budgetOf, goesOnWithoutThinking } from './claude-thinking.ts';
import { callsAsText, withResultTexts } from './converse-prompt.ts';
import { claudeOrigin, nonEmpty } from './package-words.ts';
import { withReadableUsage } from './readable-usage.ts';

export const target: HubTarget = {
  // With a key it signs nothing itself.
  openModel: ({ model, ...settings }) => createAmazonBedrock({ ...settings, region: 'none' })(model),
  toOptions(target) {
    const { call, model } = target;
    const { topK: _unknown, topP, ...options } = callOptions(target);
    const isAny = isAnyJson(call);
    // Claude refuses both together. Anthropic's package knows.
    const isOneOfThem = /anthropic|claude/.test(model) && call.temperature !== undefined;
    const prompt = instructionsFirst(call.prompt);
    return {
      ...options,
      ...(isOneOfThem || topP === undefined ? {} : { topP }),
      prompt: withResultTexts(offersTools(call) ? prompt : callsAsText(prompt)),
      ...(isAny ? { responseFormat: anyJsonSchema } : {}),
      providerOptions: {
        anthropic: {
          ...(call.parallelToolCalls === false ? { disableParallelToolUse: true } : {}),
          ...(isAny ? { structuredOutputMode: 'jsonTool' } : {}),
        },
      },
    };
  },
  boundBody(body, target) {
    const inference = readObject(body, 'inferenceConfig');
    const maxTokens = atMost(inference.maxTokens, target.boundTokens);
    const fields = readObject(body, 'additionalModelRequestFields');
    const { thinking, reasoningConfig, tool_choice: claudeChoice } = fields;
    const isImpossible = () => isForced(body, claudeChoice) || goesOnWithoutThinking(body);
    // Nova takes no bound at high effort, so it does not get that effort.
    const isUnbounded = inference.maxTokens === undefined && isJsonObject(reasoningConfig);
    const changed = {
      ...fields,
      ...(thinking === undefined ? {} : { thinking: boundThinking(thinking, budgetOf(target) ?? 0, isImpossible) }),
      ...(isUnbounded ? { reasoningConfig: { ...reasoningConfig, maxReasoningEffort: 'medium' } } : {}),
    };
    return {
      inferenceConfig: { ...inference, maxTokens },
      ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: changed }),
    };
  },
  says: new Set(['cache_marks']),
  streamType: 'application/vnd.amazon.eventstream',
  readStream: bedrockFrames,
  withReadableUsage: (text) => withReadableUsage(text, converseUsage),
  originOf: () => claudeOrigin,
  readSigned: ({ amazonBedrock = {} } = {}) => ({
    ...nonEmpty('signature', amazonBedrock.signature),
    ...nonEmpty('encrypted', amazonBedrock.redactedContent ?? amazonBedrock.redactedData),
  }),
  signedOptions(part, { signature, encrypted }) {
    if (part !== 'reasoning') return undefined;
    if (signature !== undefined) return { amazonBedrock: { signature } };
    return encrypted === undefined ? undefined : { amazonBedrock: { redactedContent: encrypted } };
  },
};

const offersTools = ({ tools, toolChoice }: HubCall): boolean => tools !== undefined && toolChoice?.type !== 'none';

/** `claudeChoice`: the choice in Claude's own form, which takes Converse's place where calls must not be parallel. */
function isForced(body: JsonText, claudeChoice: unknown): boolean {
  if (isJsonObject(claudeChoice)) return claudeChoice.type !== 'auto';
  const config = findMember(body, 'toolConfig');
  const choice = config === undefined ? undefined : findMember(body, 'toolChoice', config);
  return choice !== undefined && findMember(body, 'auto', choice) === undefined;
}
