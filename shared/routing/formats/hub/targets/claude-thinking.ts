// Thinking in the words of Claude, at Anthropic as at other hosts.
import { findMember, isJsonObject, type JsonText, pick } from '../../../../protocol/wire/index.ts';
import { type TargetCall, thinkingMinTokens } from '../middle/index.ts';
import type { Json } from './body-members.ts';

export interface ClaudeThinking {
  readonly thinking?: Json;
  readonly effort?: string;
  /** It takes no temperature and the like then. */
  readonly isThinking: boolean;
}

/** `isForced`: it has to call a tool, which excludes thinking. */
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
