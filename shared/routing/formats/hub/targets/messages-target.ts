// Translates calls to Anthropic's Messages.

import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal';
import { budgetReasoning } from '../../../../configuration/catalogue/index.ts';
import { isJsonObject, type JsonObject, type JsonText } from '../../../../protocol/wire/index.ts';
import { anthropicEvents, messageUsage, withKnownBlocks } from './anthropic-events.ts';
import { atMost, claudeOrigin, nonEmpty, read, readObject } from './body-members.ts';
import { claudeOptions, claudeThinking } from './claude-thinking.ts';
import type { HubTarget } from './hub-target.ts';
import { claudeUser } from './optional-fields.ts';
import { reportedUsage, withReadableUsage } from './readable-usage.ts';
import { claudeStrictness } from './strict-schemas.ts';

export const target: HubTarget = {
  openModel: ({ packageModel, baseURL, fetch, generateId }) =>
    new AnthropicLanguageModel(packageModel, {
      provider: 'anthropic.messages',
      baseURL,
      fetch,
      generateId,
    }),
  // The provider checks arguments before it sends them, which is its default; not every host of Claude supports the
  // other mode.
  toOptions(target) {
    const userId = claudeUser(target.call);
    return claudeOptions(target, { toolStreaming: false, ...(userId === undefined ? {} : { metadata: { userId } }) });
  },
  finalChanges(body, target) {
    // The package knows the output bounds of some models.
    const maxTokens = atMost(read(body, 'max_tokens'), target.outputMaxTokens);
    const thinking = claudeThinking(body, target, maxTokens, () => isForced(body));
    const output = readObject(body, 'output_config');
    // Newer models refuse any of these options; the package knows which models.
    const sampling = thinking.isThinking ? { temperature: undefined, top_p: undefined, top_k: undefined } : {};
    return {
      max_tokens: maxTokens,
      thinking: thinking.thinking,
      ...(thinking.effort === undefined ? {} : { output_config: { ...output, effort: thinking.effort } }),
      ...sampling,
    };
  },
  // Other vendors' models with this format accept Claude's older options.
  unknownReasoning: () => budgetReasoning,
  supportedOptions: new Set([
    'cache_marks',
    'cache_options',
    'call_cache_marks',
    'safety_identifier',
    'tool_cache_marks',
    'user',
  ]),
  strictness: claudeStrictness,
  streamType: 'text/event-stream',
  toolArguments: {
    hint: 'tool_use"',
    paths: [
      ['content', '*', 'input'],
      ['content_block', 'input'],
    ],
  },
  readStream: anthropicEvents,
  answerSteps: [withKnownBlocks, (text) => withReadableUsage(text, messageUsage)],
  usageIn: (text) =>
    reportedUsage(text, messageUsage, (count) => {
      const [cached, cacheWrite] = [count('cache_read_input_tokens'), count('cache_creation_input_tokens')];
      const input = count('input_tokens') + cached + cacheWrite;
      return { input, cached, cacheWrite, output: count('output_tokens'), reasoning: 0 };
    }),
  refusalOf(metadata) {
    const details = metadata?.anthropic?.stopDetails;
    const { explanation } = isJsonObject(details) ? (details as JsonObject) : {};
    return typeof explanation === 'string' ? explanation : undefined;
  },
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

/** True for a forced call of the client's tools, or for JSON, which is a forced call for models without schemas. */
function isForced(body: JsonText): boolean {
  const { type } = readObject(body, 'tool_choice');
  return type === 'any' || type === 'tool';
}
