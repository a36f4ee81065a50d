// The last word about the body that a package made: whatever it adds for thinking, no call asks for more output than is held.
// Members that stay as they are are not parsed: they may be long.
import {
  findMember,
  isJsonObject,
  type JsonText,
  parseJson,
  pick,
  rewriteMembers,
  scanJson,
} from '../../../protocol/wire/index.ts';
import { thinkingMinTokens } from './thinking.ts';
import type { CallTarget } from './to-call-options.ts';
import type { TranslatedApi } from './translated-api.ts';

type Json = Readonly<Record<string, unknown>>;

/** Bodies of clients, and arguments inside them, are less deep by far. */
const bodyDepthMax = 1_024;

/** The smallest maximum of its models: Gemini refuses a budget beyond that of the model. */
const geminiBudgetMax = 24_576;

/** Returns the text that is sent. */
export function boundBody(text: string, target: CallTarget): string {
  const scanned = scanJson(text, { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') throw new Error('a package wrote a body that is no JSON');
  return rewriteMembers(scanned.json, new Map(Object.entries(bound[target.api](scanned.json, target))));
}

/** The members that are written anew; undefined leaves one out. */
const bound: Readonly<Record<TranslatedApi, (body: JsonText, target: CallTarget) => Json>> = {
  messages(body, target) {
    const asked = read(body, 'thinking');
    const forced = forcedChoice(body, target);
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
  converse(body, target) {
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
  'generate-content'(body, target) {
    const config = readObject(body, 'generationConfig');
    const { thinkingConfig: thinking, maxOutputTokens } = config;
    const budget = budgetOf(target);
    const isBudget = budget !== undefined && isJsonObject(thinking) && typeof thinking.thinkingBudget === 'number';
    return {
      generationConfig: {
        ...config,
        maxOutputTokens: atMost(maxOutputTokens, target.boundTokens),
        ...(isBudget ? { thinkingConfig: { ...thinking, thinkingBudget: Math.min(budget, geminiBudgetMax) } } : {}),
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

const budgetOf = ({ thinking }: CallTarget): number | undefined =>
  typeof thinking === 'object' ? thinking.budgetTokens : undefined;

/** Models that are told how hard to think have none. */
const hasBudget = (thinking: unknown): thinking is Json => isJsonObject(thinking) && thinking.type === 'enabled';

function boundThinking(thinking: unknown, budget: number, isImpossible: () => boolean): unknown {
  if (!hasBudget(thinking)) return thinking;
  return budget < thinkingMinTokens || isImpossible() ? undefined : { ...thinking, budget_tokens: budget };
}

/** Claude refuses to think with a budget where it has to call a tool. JSON is a call of one for models that know no schemas. */
function forcedChoice(body: JsonText, { toolChoice, wantsJson }: CallTarget): Json | undefined {
  const isJsonTool = wantsJson && !isJsonObject(readObject(body, 'output_config').format);
  if (isJsonTool || toolChoice?.type === 'required') return { type: 'any' };
  return toolChoice?.type === 'tool' ? { type: 'tool', name: toolChoice.toolName } : undefined;
}

/** `claudeChoice`: the choice in Claude's own form, which takes Converse's place where calls must not be parallel. */
function isForced(body: JsonText, claudeChoice: unknown): boolean {
  if (isJsonObject(claudeChoice)) return claudeChoice.type !== 'auto';
  const config = findMember(body, 'toolConfig');
  const choice = config === undefined ? undefined : findMember(body, 'toolChoice', config);
  return choice !== undefined && findMember(body, 'auto', choice) === undefined;
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
