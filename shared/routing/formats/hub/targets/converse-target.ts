// Amazon Bedrock's Converse.

import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import type { Thinking } from '../../../../configuration/catalogue/index.ts';
import { frameStreamType } from '../../../../foundation/constants/index.ts';
import type { HubCall, OptionalName } from '../../../../protocol/hub/index.ts';
import { findMember, isJsonObject, type JsonObject, type JsonText } from '../../../../protocol/wire/index.ts';
import { bedrockEmbeddings } from './bedrock-embeddings.ts';
import { bedrockFrames, converseUsage, emptyThinkingSignature } from './bedrock-frames.ts';
import { bedrockImages } from './bedrock-images.ts';
import { bedrockReranking } from './bedrock-reranking.ts';
import { atMost, claudeOrigin, nonEmpty, read, readObject } from './body-members.ts';
import { claudeCall, claudeOptions, claudeThinking } from './claude-thinking.ts';
import {
  callsAsText,
  failedCalls,
  ruledResults,
  withDocuments,
  withFailures,
  withResultTexts,
} from './converse-prompt.ts';
import type { HubTarget, TargetCall } from './hub-target.ts';
import { reportedUsage, withReadableUsage } from './readable-usage.ts';
import { claudeStrictness } from './strict-schemas.ts';

export const target: HubTarget = {
  embeddings: bedrockEmbeddings,
  imaging: bedrockImages,
  reranking: bedrockReranking,
  // A key keeps it from signing.
  openModel({ model, knownAs, names, fetch: send, ...settings }) {
    const ownPath: typeof send = (url, init) =>
      send(
        String(url).replace(pathOf(knownAs), () => pathOf(model)),
        init,
      );
    const family = names.some(isClaude) ? ({ modelFamily: 'anthropic' } as const) : {};
    return createAmazonBedrock({ ...settings, fetch: ownPath, region: 'none' })(knownAs, family);
  },
  toOptions(target) {
    const { call, names, rules } = target;
    const { topK: _unknown, topP, prompt, ...options } = claudeOptions(target);
    // Claude refuses both together. Anthropic's package knows.
    const isOneOfThem = names.some(isClaude) && call.temperature !== undefined;
    return {
      ...options,
      ...(isOneOfThem || topP === undefined ? {} : { topP }),
      prompt: withDocuments(withResultTexts(offersTools(call) ? ruledResults(prompt, rules) : callsAsText(prompt))),
    };
  },
  boundBody(body, target) {
    const inference = readObject(body, 'inferenceConfig');
    const fields = readObject(body, 'additionalModelRequestFields');
    const thinking = fieldsOfThinking(body, fields, target);
    const { temperature: _temperature, topP: _topP, topK: _topK, ...plain } = inference;
    const changed = { ...fields, ...thinking.fields };
    const failed = target.rules.flagsFailures ? failedCalls(target.call.prompt) : new Set<string>();
    return {
      ...(failed.size === 0 ? {} : { messages: withFailures(read(body, 'messages'), failed) }),
      inferenceConfig: {
        ...(thinking.isThinking ? plain : inference),
        maxTokens: atMost(inference.maxTokens, target.boundTokens),
      },
      ...(Object.keys(changed).length === 0 ? {} : { additionalModelRequestFields: changed }),
      ...markedTools(body, target),
    };
  },
  says: ({ names }) => (names.some(isClaude) ? claudeSays : plainSays),
  strictness: claudeStrictness,
  streamType: frameStreamType,
  // Streams have them as texts.
  argumentsShape: { mark: '"toolUse"', paths: [['output', 'message', 'content', '*', 'toolUse', 'input']] },
  readStream: bedrockFrames,
  readable: [(text) => withReadableUsage(text, converseUsage)],
  usageIn: (text) =>
    reportedUsage(text, converseUsage, (count) => {
      const [cached, cacheWrite] = [count('cacheReadInputTokens'), count('cacheWriteInputTokens')];
      const input = count('inputTokens') + cached + cacheWrite;
      return { input, cached, cacheWrite, output: count('outputTokens'), reasoning: 0 };
    }),
  originOf: ({ model }) => (/(^|\.)openai\./.test(model) ? 'openai-responses-v1' : claudeOrigin),
  readSigned: ({ amazonBedrock = {} } = {}) => ({
    ...(amazonBedrock.signature === emptyThinkingSignature ? {} : nonEmpty('signature', amazonBedrock.signature)),
    ...nonEmpty('encrypted', amazonBedrock.redactedContent ?? amazonBedrock.redactedData),
  }),
  signedOptions(part, { signature, encrypted }) {
    if (part !== 'reasoning') return undefined;
    if (signature !== undefined) return { amazonBedrock: { signature } };
    return encrypted === undefined ? undefined : { amazonBedrock: { redactedContent: encrypted } };
  },
};

const plainSays: ReadonlySet<OptionalName> = new Set(['cache_marks', 'cache_options', 'call_cache_marks']);
const claudeSays: ReadonlySet<OptionalName> = new Set([...plainSays, 'tool_cache_marks']);
const pathOf = (model: string): string => `/model/${encodeURIComponent(model)}/`;
const isClaude = (name: string): boolean => /claude/i.test(name);

/**
 * A cache point follows the tool that it marks. The package writes none, and models of other makers refuse them there.
 */
function markedTools(body: JsonText, target: TargetCall): JsonObject {
  const { call, names, marksCache } = target;
  if (!names.some(isClaude) || call.tools === undefined || !(marksCache || call.tools.some(pointOf))) return {};
  const points = new Map(claudeCall(target).tools?.map((tool) => [tool.name, pointOf(tool)]));
  const config = readObject(body, 'toolConfig');
  if (!Array.isArray(config.tools)) return {};
  const tools = config.tools.flatMap((tool: unknown) => {
    const { name } = isJsonObject(tool) && isJsonObject(tool.toolSpec) ? tool.toolSpec : {};
    const cachePoint = points.get(String(name));
    return cachePoint === undefined ? [tool] : [tool, { cachePoint }];
  });
  return { toolConfig: { ...config, tools } };
}

const pointOf = (tool: NonNullable<HubCall['tools']>[number]): unknown =>
  'providerOptions' in tool ? tool.providerOptions?.amazonBedrock?.cachePoint : undefined;

/** Thinking fields by maker. `isThinking`: of a Claude, which then accepts no temperature and the like. */
function fieldsOfThinking(
  body: JsonText,
  fields: JsonObject,
  target: TargetCall,
): { fields: JsonObject; isThinking: boolean } {
  const { knownAs, thinking } = target;
  if (thinking === undefined) return { fields: {}, isThinking: false };
  if (target.reasoning.kind === 'budget' || target.reasoning.kind === 'adaptive') {
    const isClaudeForced = () => isForced(body, fields.tool_choice);
    const {
      thinking: thinkingField,
      effort,
      isThinking,
    } = claudeThinking(body, target, target.boundTokens, isClaudeForced);
    const output = isJsonObject(fields.output_config) ? fields.output_config : {};
    return {
      fields: {
        ...(thinkingField === undefined ? {} : { thinking: thinkingField }),
        ...(effort === undefined ? {} : { output_config: { ...output, effort } }),
      },
      isThinking,
    };
  }
  return { fields: wordsOf(knownAs, thinking), isThinking: false };
}

function wordsOf(model: string, thinking: Thinking): JsonObject {
  const { kind } = thinking;
  if (model.includes('nova-')) {
    return { reasoningConfig: kind === 'effort' ? { type: 'enabled', maxReasoningEffort: thinking.effort } : disabled };
  }
  if (kind === 'on') return { thinking: { type: 'enabled' } };
  const effort = kind === 'effort' ? thinking.effort : undefined;
  if (/gpt-oss|kimi/.test(model)) return effort === undefined ? { thinking: disabled } : { reasoning_effort: effort };
  return { reasoning: { effort: effort ?? 'none' } };
}

const disabled = { type: 'disabled' };

const offersTools = ({ tools, toolChoice }: HubCall): boolean => tools !== undefined && toolChoice?.type !== 'none';

/** `claudeChoice`: the choice in Claude's own form, which replaces Converse's where calls must not be parallel. */
function isForced(body: JsonText, claudeChoice: unknown): boolean {
  if (isJsonObject(claudeChoice)) return claudeChoice.type !== 'auto';
  const config = findMember(body, 'toolConfig');
  const choice = config === undefined ? undefined : findMember(body, 'toolChoice', config);
  return choice !== undefined && findMember(body, 'auto', choice) === undefined;
}
