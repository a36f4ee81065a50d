// Anthropic's Messages.
import { createAnthropic } from '@ai-sdk/anthropic';
import { isJsonObject, type JsonText } from '../../../../protocol/wire/index.ts';
import { type HubTarget, instructionsFirst, type TargetCall } from '../middle/index.ts';
import { anthropicEvents, messageUsage } from './anthropic-events.ts';
import { atMost, type Json, read, readObject } from './body-members.ts';
import { anyJsonSchema, callOptions, isAnyJson } from './call-options.ts';
import { boundThinking, budgetOf, goesOnWithoutThinking, hasBudget } from './claude-thinking.ts';
import { claudeOrigin, nonEmpty } from './package-words.ts';
import { withReadableUsage } from './readable-usage.ts';

export const target: HubTarget = {
  openModel: ({ model, ...settings }) => createAnthropic(settings)(model),
  toOptions(target) {
    const { call } = target;
    const isAny = isAnyJson(call);
    return {
      ...callOptions(target),
      prompt: instructionsFirst(call.prompt),
      // Its own JSON mode wants a closed schema, so it is made to call a tool.
      ...(isAny ? { responseFormat: anyJsonSchema } : {}),
      providerOptions: {
        anthropic: {
          ...(call.parallelToolCalls === false ? { disableParallelToolUse: true } : {}),
          ...(isAny ? { structuredOutputMode: 'jsonTool' } : {}),
          // Arguments come checked by the provider, as its own default has it; not every host of Claude knows the other way.
          toolStreaming: false,
        },
      },
    };
  },
  boundBody(body, target) {
    const asked = read(body, 'thinking');
    const forced = forcedChoice(body, target.call);
    // The package knows how much some models write at most.
    const maxTokens = atMost(read(body, 'max_tokens'), target.boundTokens);
    const isImpossible = () => forced !== undefined || goesOnWithoutThinking(body);
    const thinking = boundThinking(asked, Math.min(budgetOf(target) ?? 0, maxTokens - 1), isImpossible);
    // Where a model thinks, the package leaves it open whether a tool is called.
    const isOpen = hasBudget(asked) && thinking === undefined && forced !== undefined;
    return {
      max_tokens: maxTokens,
      thinking,
      ...(isOpen ? { tool_choice: { ...readObject(body, 'tool_choice'), ...forced } } : {}),
    };
  },
  says: new Set(['cache_marks']),
  streamType: 'text/event-stream',
  readStream: anthropicEvents,
  withReadableUsage: (text) => withReadableUsage(text, messageUsage),
  originOf: () => claudeOrigin,
  readSigned: ({ anthropic = {} } = {}) => ({
    ...nonEmpty('signature', anthropic.signature),
    ...nonEmpty('encrypted', anthropic.redactedData),
  }),
  signedOptions(part, { signature, encrypted }) {
    if (part !== 'reasoning') return undefined;
    if (signature !== undefined) return { anthropic: { signature } };
    return encrypted === undefined ? undefined : { anthropic: { redactedData: encrypted } };
  },
};

/** Claude refuses to think with a budget where it has to call a tool. JSON is a call of one for models that know no schemas. */
function forcedChoice(body: JsonText, { toolChoice, responseFormat }: TargetCall['call']): Json | undefined {
  const isJsonTool = responseFormat !== undefined && !isJsonObject(readObject(body, 'output_config').format);
  if (isJsonTool || toolChoice?.type === 'required') return { type: 'any' };
  return toolChoice?.type === 'tool' ? { type: 'tool', name: toolChoice.toolName } : undefined;
}
