// Where Claude takes no thinking with a budget, at Anthropic as at other hosts.
import { findMember, isJsonObject, type JsonText, pick } from '../../../../protocol/wire/index.ts';
import { type TargetCall, thinkingMinTokens } from '../middle/index.ts';
import type { Json } from './body-members.ts';

export const budgetOf = ({ thinking }: TargetCall): number | undefined =>
  typeof thinking === 'object' ? thinking.budgetTokens : undefined;

/** Models that are told how hard to think have none. */
export const hasBudget = (thinking: unknown): thinking is Json => isJsonObject(thinking) && thinking.type === 'enabled';

export function boundThinking(thinking: unknown, budget: number, isImpossible: () => boolean): unknown {
  if (!hasBudget(thinking)) return thinking;
  return budget < thinkingMinTokens || isImpossible() ? undefined : { ...thinking, budget_tokens: budget };
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
export function goesOnWithoutThinking(body: JsonText): boolean {
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
