// The last word about the body that a package made: whatever it adds for thinking, no call asks for more output than is held.
import { isJsonObject, parseJson } from '../../../protocol/wire/index.ts';
import type { CallTarget } from './to-call-options.ts';
import type { TranslatedApi } from './translated-api.ts';

type Json = Record<string, unknown>;

/** Returns the text that is sent. */
export function boundBody(text: string, { api, boundTokens, thinking }: CallTarget): string {
  const body = parseJson(text) as Json;
  const budgetTokens = typeof thinking === 'object' ? thinking.budgetTokens : undefined;
  bound[api](body, boundTokens, budgetTokens);
  return JSON.stringify(body);
}

const bound: Readonly<Record<TranslatedApi, (body: Json, boundTokens: number, budget: number | undefined) => void>> = {
  messages(body, boundTokens, budget) {
    body.max_tokens = atMost(body.max_tokens, boundTokens);
    body.thinking = boundThinking(body.thinking, budget, goesOnWithoutThinking(body.messages));
  },
  converse(body, boundTokens, budget) {
    const inference = memberOf(body, 'inferenceConfig');
    const fields = isJsonObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {};
    if ('thinking' in fields) {
      fields.thinking = boundThinking(fields.thinking, budget, goesOnWithoutThinking(body.messages));
    }
    // Nova takes no bound at high effort, so it does not get that effort.
    if (inference.maxTokens === undefined && isJsonObject(fields.reasoningConfig)) {
      fields.reasoningConfig.maxReasoningEffort = 'medium';
    }
    inference.maxTokens = atMost(inference.maxTokens, boundTokens);
  },
  'generate-content'(body, boundTokens, budget) {
    const config = memberOf(body, 'generationConfig');
    config.maxOutputTokens = atMost(config.maxOutputTokens, boundTokens);
    const thinking = isJsonObject(config.thinkingConfig) ? config.thinkingConfig : {};
    if (budget !== undefined && typeof thinking.thinkingBudget === 'number') thinking.thinkingBudget = budget;
  },
};

const atMost = (value: unknown, max: number): number => (typeof value === 'number' ? Math.min(value, max) : max);

function memberOf(body: Json, name: string): Json {
  const known = body[name];
  const member = isJsonObject(known) ? known : {};
  body[name] = member;
  return member;
}

/** Models that are told how hard to think have no budget. */
function boundThinking(thinking: unknown, budget: number | undefined, isImpossible: boolean): unknown {
  if (!isJsonObject(thinking) || thinking.type !== 'enabled') return thinking;
  return budget === undefined || isImpossible ? undefined : { ...thinking, budget_tokens: budget };
}

/**
 * Claude refuses to think with a budget on results of calls whose thinking did not come back. Most clients drop it, and want
 * their answer all the same.
 */
function goesOnWithoutThinking(messages: unknown): boolean {
  const list = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  const last = list.findLast(({ role }) => role === 'assistant');
  const parts = Array.isArray(last?.content) ? last.content.filter(isJsonObject) : [];
  const first = parts[0] ?? {};
  const calls = parts.some((part) => part.type === 'tool_use' || 'toolUse' in part);
  const thought = first.type === 'thinking' || first.type === 'redacted_thinking' || 'reasoningContent' in first;
  return calls && !thought && list.at(-1) !== last;
}
