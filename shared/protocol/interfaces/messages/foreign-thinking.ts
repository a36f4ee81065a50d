// Removes from a relayed message the thinking that another model made for this gateway, because this provider would
// refuse it. Everything else is passed on unchanged.
import {
  findMember,
  isEnvelope,
  isJsonObject,
  type JsonObject,
  type JsonText,
  mayHoldEnvelope,
  parseJson,
  pick,
} from '../../wire/index.ts';
import { membersOf, type RelayedChanges } from '../index.ts';

/** Returns no changes if no other model took part in the conversation, as is usual. */
export function withoutForeignThinking(json: JsonText): RelayedChanges {
  const messages = findMember(json, 'messages');
  if (messages === undefined) return { changes: [], leftOut: [] };
  const read = mayHoldEnvelope(json.text) ? parseJson(json.slice(messages)) : undefined;
  const sealed = Array.isArray(read) ? firstForeign(read) : undefined;
  const stopsThinking = thinksByBudget(json) && wasCalledByAnother(json, messages);
  return {
    changes: [
      ...(sealed === undefined ? [] : ([['messages', (read as unknown[]).flatMap(withoutEnvelopes)]] as const)),
      ...(stopsThinking ? ([['thinking', undefined]] as const) : []),
    ],
    leftOut: [...(sealed === undefined ? [] : [sealed]), ...(stopsThinking ? ['thinking'] : [])],
  };
}

function firstForeign(messages: readonly unknown[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const content = isJsonObject(message) && Array.isArray(message.content) ? message.content : [];
    const place = content.findIndex(isForeign);
    if (place >= 0)
      return `messages[${at}].content[${place}].${content[place].type === 'thinking' ? 'signature' : 'data'}`;
  }
  return undefined;
}

/** Returns nothing for a message that contained nothing else. */
function withoutEnvelopes(message: unknown): unknown[] {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return [message];
  const content = message.content.filter((block) => !isForeign(block));
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [{ ...message, content }];
}

const isForeign = (block: unknown): boolean =>
  isJsonObject(block) &&
  ((block.type === 'thinking' && isEnvelope(block.signature)) ||
    (block.type === 'redacted_thinking' && isEnvelope(block.data)));

const thinkingShape = membersOf({ type: {} });

function thinksByBudget(json: JsonText): boolean {
  const thinking = findMember(json, 'thinking');
  return thinking !== undefined && (pick(json, thinking, thinkingShape) as JsonObject | undefined)?.type === 'enabled';
}

/** True if a result of a tool call has no thinking before it, which a Claude with a thinking budget refuses. */
export function lacksThinking(json: JsonText): boolean {
  const messages = findMember(json, 'messages');
  if (messages === undefined || !thinksByBudget(json)) return false;
  const [first, ...others] = lastBlocksOfAssistant(json, messages);
  return isCall(first) || (!isThinking(first) && others.some(isCall));
}

const isCall = (block: JsonObject | undefined): boolean => block?.type === 'tool_use';
const isThinking = (block: JsonObject | undefined): boolean =>
  block?.type === 'thinking' || block?.type === 'redacted_thinking';

function lastBlocksOfAssistant(json: JsonText, messages: number): readonly JsonObject[] {
  const last = [...json.inside(messages)].findLast((message) => isAssistantMessage(json, message));
  const { content } = last === undefined ? {} : (pick(json, last, messageShape) as JsonObject);
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

const blockShape = membersOf({ type: {}, id: {}, signature: {}, data: {} });
const messageShape = membersOf({ content: { items: blockShape } });

/** Matches ids of Claude's own calls, at Anthropic and its other hosts. */
const ownCallId = /^toolu_/;

/**
 * True if another model made the call before a result. A Claude with a thinking budget refuses results before which it
 * has not thought itself.
 */
function wasCalledByAnother(json: JsonText, messages: number): boolean {
  const blocks = lastBlocksOfAssistant(json, messages);
  const [first] = blocks.filter((block) => !isForeign(block));
  if (first === undefined || isThinking(first)) return false;
  const calls = blocks.filter(isCall);
  return calls.length > 0 && (blocks.some(isForeign) || calls.some(({ id }) => !ownCallId.test(String(id))));
}

function isAssistantMessage(json: JsonText, message: number): boolean {
  const role = findMember(json, 'role', message);
  return role !== undefined && json.slice(role) === '"assistant"';
}
