// Thinking in the words of Claude, at Anthropic as at other hosts.

import { supportsNativeStructuredOutputSchema } from '@ai-sdk/anthropic/internal';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { thinkingMinTokens } from '../../../../configuration/catalogue/index.ts';
import {
  type HubCall,
  imagesOfUser,
  instructionsFirst,
  withCacheMarksMax,
  withMarksOfOurs,
} from '../../../../protocol/hub/index.ts';
import { findMember, isJsonObject, type JsonObject, type JsonText, pick } from '../../../../protocol/wire/index.ts';
import type { TargetCall } from './hub-target.ts';

import { anyJsonSchema, callOptions, isAnyJson, withJsonInstruction } from './json-format.ts';

export interface ClaudeThinking {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** Set while it thinks: it then accepts no temperature and the like. */
  readonly isThinking: boolean;
}

/** `isForced`: it must call a tool, which excludes thinking. */
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
      // Without it newer models think in silence.
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
 * Claude refuses to think with a budget after results of calls whose thinking is missing. Most clients drop it, and
 * want their answer all the same.
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

// The options that the packages of Anthropic and of Bedrock are given alike.

/** The tool that the packages make a model call for JSON. */
const jsonToolName = 'json';

/** A package would take a call of the client's own tool for the answer, or not have one called that must be. */
function needsJsonInstruction({ call, knownAs, canForceTools, rules }: TargetCall): boolean {
  const { responseFormat: format, tools } = call;
  if (format?.type !== 'json') return false;
  if (!rules.keepsTextsBesideJson && tools !== undefined && format.schema !== undefined) return true;
  // A package that does not see whose model it is has it call a tool too.
  const isOwnFormat =
    /claude/.test(knownAs) && format.schema !== undefined && supportsNativeStructuredOutputSchema(format.schema);
  return (!canForceTools && !isOwnFormat) || tools?.some(({ name }) => name === jsonToolName) === true;
}

/** Adds the cache marks that are sent. */
export function claudeCall(target: TargetCall): HubCall {
  const call = needsJsonInstruction(target) ? withJsonInstruction(target.call) : target.call;
  return target.marksCache ? withMarksOfOurs(call) : withCacheMarksMax(call);
}

/** `more`: further options of Anthropic's package. */
export function claudeOptions(
  target: TargetCall,
  more: Readonly<Record<string, boolean | JsonObject>> = {},
): LanguageModelV4CallOptions {
  const call = claudeCall(target);
  const { stopSequences: stops, ...options } = callOptions({ ...target, call });
  // Their own JSON mode wants a closed schema, so Claude is made to call a tool.
  const isAny = isAnyJson(call);
  return {
    ...options,
    // Claude refuses a stop that is blank.
    ...(stops === undefined ? {} : { stopSequences: stops.filter((stop) => stop.trim() !== '') }),
    prompt: imagesOfUser(instructionsFirst(call.prompt)),
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
