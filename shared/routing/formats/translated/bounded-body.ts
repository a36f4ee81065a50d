// The last word about the body that a package made: whatever it adds for thinking, no call asks for more output than is held.
// What of the text stays as it is is not read: it may be long.
import {
  findMember,
  isJsonObject,
  type JsonText,
  parseJson,
  pick,
  rewriteMembers,
  scanJson,
} from '../../../protocol/wire/index.ts';
import type { CallTarget } from './to-call-options.ts';
import type { TranslatedApi } from './translated-api.ts';

type Json = Readonly<Record<string, unknown>>;

/** Bodies of clients, and arguments inside them, are less deep by far. */
const bodyDepthMax = 1_024;

/** Returns the text that is sent. */
export function boundBody(text: string, { api, boundTokens, thinking }: CallTarget): string {
  const scanned = scanJson(text, { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') throw new Error('a package wrote a body that is no JSON');
  const budgetTokens = typeof thinking === 'object' ? thinking.budgetTokens : undefined;
  const changed = bound[api](scanned.json, boundTokens, budgetTokens);
  return rewriteMembers(scanned.json, new Map(Object.entries(changed)));
}

/** The members that are written anew; undefined leaves one out. */
const bound: Readonly<
  Record<TranslatedApi, (body: JsonText, boundTokens: number, budget: number | undefined) => Json>
> = {
  messages: (body, boundTokens, budget) => ({
    max_tokens: atMost(read(body, 'max_tokens'), boundTokens),
    thinking: boundThinking(read(body, 'thinking'), budget, body),
  }),
  converse(body, boundTokens, budget) {
    const inference = readObject(body, 'inferenceConfig');
    const maxTokens = atMost(inference.maxTokens, boundTokens);
    const fields = readObject(body, 'additionalModelRequestFields');
    const { thinking, reasoningConfig } = fields;
    // Nova takes no bound at high effort, so it does not get that effort.
    const isUnbounded = inference.maxTokens === undefined && isJsonObject(reasoningConfig);
    const changed = {
      ...fields,
      ...(thinking === undefined ? {} : { thinking: boundThinking(thinking, budget, body) }),
      ...(isUnbounded ? { reasoningConfig: { ...reasoningConfig, maxReasoningEffort: 'medium' } } : {}),
    };
    return {
      inferenceConfig: { ...inference, maxTokens },
      ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: changed }),
    };
  },
  'generate-content'(body, boundTokens, budget) {
    const config = readObject(body, 'generationConfig');
    const { thinkingConfig: thinking, maxOutputTokens } = config;
    const hasBudget = budget !== undefined && isJsonObject(thinking) && typeof thinking.thinkingBudget === 'number';
    return {
      generationConfig: {
        ...config,
        maxOutputTokens: atMost(maxOutputTokens, boundTokens),
        ...(hasBudget ? { thinkingConfig: { ...thinking, thinkingBudget: budget } } : {}),
      },
    };
  },
};

function read(body: JsonText, name: string): unknown {
  const member = findMember(body, name);
  return member === undefined ? undefined : parseJson(body.slice(member));
}

function readObject(body: JsonText, name: string): Json {
  const member = read(body, name);
  return isJsonObject(member) ? member : {};
}

const atMost = (value: unknown, max: number): number => (typeof value === 'number' ? Math.min(value, max) : max);

/** Models that are told how hard to think have no budget. */
function boundThinking(thinking: unknown, budget: number | undefined, body: JsonText): unknown {
  if (!isJsonObject(thinking) || thinking.type !== 'enabled') return thinking;
  return budget === undefined || goesOnWithoutThinking(body) ? undefined : { ...thinking, budget_tokens: budget };
}

const messageShape = {
  members: new Map([
    ['role', {}],
    ['content', { items: { members: new Map(['type', 'toolUse', 'reasoningContent'].map((name) => [name, {}])) } }],
  ]),
};

/**
 * Claude refuses to think with a budget on results of calls whose thinking did not come back. Most clients drop it, and want
 * their answer all the same.
 */
function goesOnWithoutThinking(body: JsonText): boolean {
  const messages = findMember(body, 'messages');
  const list = messages === undefined ? [] : [...body.inside(messages)];
  const readMessage = (message: number) => pick(body, message, messageShape) as Json;
  const last = list.findLast((message) => readMessage(message).role === 'assistant');
  if (last === undefined || last === list.at(-1)) return false;
  const { content } = readMessage(last);
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const first = parts[0] ?? {};
  const thought = first.type === 'thinking' || first.type === 'redacted_thinking' || 'reasoningContent' in first;
  return !thought && parts.some((part) => part.type === 'tool_use' || 'toolUse' in part);
}
