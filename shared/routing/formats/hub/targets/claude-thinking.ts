// Writes thinking in the options of Claude, at Anthropic and at other hosts.

import { supportsNativeStructuredOutputSchema } from '@ai-sdk/anthropic/internal';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { thinkingMinTokens } from '../../../../configuration/catalogue/index.ts';
import {
  type HubCall,
  imagesOfUser,
  putInstructionsFirst,
  withCacheMarksMax,
  withMarksOfOurs,
} from '../../../../protocol/hub/index.ts';
import { findMember, isJsonObject, type JsonObject, type JsonText, pick } from '../../../../protocol/wire/index.ts';
import type { TargetCall } from './hub-target.ts';

import { anyJsonSchema, callOptions, isAnyJson, withJsonInstruction } from './json-format.ts';

interface ClaudeThinking {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** True while the model thinks. The model then accepts no temperature and similar options. */
  readonly isThinking: boolean;
}

/** Returns the options. `isForced` means that the model must call a tool, which excludes thinking. */
export function claudeThinking(
  body: JsonText,
  { thinking }: TargetCall,
  maxTokens: number,
  isForced: () => boolean,
): ClaudeThinking {
  switch (thinking?.kind) {
    case 'off':
      return { thinking: { type: 'disabled' }, isThinking: false };
    case 'on':
      return { thinking: { type: 'enabled' }, isThinking: true };
    case 'between_tools':
      return { thinking: { type: 'between_tools' }, isThinking: true };
    case 'budget': {
      const budget = Math.min(thinking.tokens, maxTokens - 1);
      if (budget < thinkingMinTokens || isForced() || goesOnWithoutThinking(body)) return { isThinking: false };
      return { thinking: { type: 'enabled', budget_tokens: budget }, isThinking: true };
    }
    case 'adaptive': {
      const { effort } = thinking;
      if (thinking.isLeast || isForced()) return { effort, isThinking: false };
      // Without this option newer models hide their thinking.
      return { thinking: { type: 'adaptive', display: 'summarized' }, effort, isThinking: true };
    }
    default:
      return { isThinking: false };
  }
}

const messageShape = {
  members: new Map([
    ['role', {}],
    ['content', { items: { members: new Map(['type', 'toolUse', 'reasoningContent'].map((name) => [name, {}])) } }],
  ]),
};

/**
 * True if Claude refuses to think with a budget, because the thinking before results of calls is missing. Most
 * clients drop it, and expect their answer all the same.
 */
function goesOnWithoutThinking(body: JsonText): boolean {
  const messages = findMember(body, 'messages');
  const list = messages === undefined ? [] : [...body.inside(messages)];
  const readMessage = (message: number) => pick(body, message, messageShape) as JsonObject;
  const last = list.findLast((message) => readMessage(message).role === 'assistant');
  if (last === undefined || last === list.at(-1)) return false;
  const { content } = readMessage(last);
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const first = parts[0] ?? {};
  const thought = first.type === 'thinking' || first.type === 'redacted_thinking' || 'reasoningContent' in first;
  return !thought && parts.some((part) => part.type === 'tool_use' || 'toolUse' in part);
}

// The options that the packages of Anthropic and of Bedrock share.

/** The tool that the packages force a model to call for JSON. */
const jsonToolName = 'json';

/**
 * True if a package would interpret a call of the client's own tool as the answer, or would not force a call that is
 * required.
 */
function needsJsonInstruction({ call, packageModel, canForceTools, rules }: TargetCall): boolean {
  const { responseFormat: format, tools } = call;
  if (format?.type !== 'json') return false;
  if (!rules.keepsTextWithJson && tools !== undefined && format.schema !== undefined) return true;
  // A package that does not recognize the model's vendor forces a tool call too.
  const isOwnFormat =
    /claude/.test(packageModel) && format.schema !== undefined && supportsNativeStructuredOutputSchema(format.schema);
  return (!canForceTools && !isOwnFormat) || tools?.some(({ name }) => name === jsonToolName) === true;
}

/** Adds the cache marks that are sent. */
export function claudeCall(target: TargetCall): HubCall {
  const call = needsJsonInstruction(target) ? withJsonInstruction(target.call) : target.call;
  return target.addsCacheMarks ? withMarksOfOurs(call) : withCacheMarksMax(call);
}

/** Returns the options. `more` has further options of Anthropic's package. */
export function claudeOptions(
  target: TargetCall,
  more: Readonly<Record<string, boolean | JsonObject>> = {},
): LanguageModelV4CallOptions {
  const call = claudeCall(target);
  const { stopSequences: stops, ...options } = callOptions({ ...target, call });
  // Claude's own JSON mode requires a closed schema, so the model is forced to call a tool.
  const isAny = isAnyJson(call);
  return {
    ...options,
    // Claude refuses a blank stop.
    ...(stops === undefined ? {} : { stopSequences: stops.filter((stop) => stop.trim() !== '') }),
    prompt: imagesOfUser(putInstructionsFirst(call.prompt)),
    ...(isAny ? { responseFormat: anyJsonSchema } : {}),
    providerOptions: {
      anthropic: {
        ...(call.parallelToolCalls === false ? { disableParallelToolUse: true } : {}),
        ...(isAny ? { structuredOutputMode: 'jsonTool' } : {}),
        ...more,
      },
    },
  };
}
