// Removes from a relayed request the thinking that another model made for this gateway, because this provider would
// refuse it. Everything else is passed on unchanged.
import {
  findMember,
  isEnvelope,
  isJsonObject,
  type JsonObject,
  type JsonText,
  mayHoldEnvelope,
  parseJson,
} from '../../wire/index.ts';
import type { RelayedChanges } from '../index.ts';
import { blockOf, blocksIn } from './block-kinds.ts';

/** Returns no changes if no other model took part in the conversation, as is usual. */
export function withoutForeignThinking(json: JsonText): RelayedChanges {
  const thinksByBudget = () => makersFields(json).some(({ type }) => type === 'enabled');
  const hasEnvelopes = mayHoldEnvelope(json.text);
  if (!hasEnvelopes && !thinksByBudget()) return { changes: [], leftOut: [] };
  const place = findMember(json, 'messages');
  const read = place === undefined ? undefined : parseJson(json.slice(place));
  const messages: readonly unknown[] = Array.isArray(read) ? read : [];
  const sealed = hasEnvelopes ? firstForeign(messages) : undefined;
  const sendable = sealed === undefined ? messages : messages.flatMap(withoutEnvelopes);
  const stopped = thinksByBudget() && lacksThinking(sendable) ? withoutThinking(json) : undefined;
  return {
    changes: [
      ...(sealed === undefined ? [] : ([['messages', sendable]] as const)),
      ...(stopped === undefined ? [] : ([[makersMember, stopped]] as const)),
    ],
    leftOut: [
      ...(sealed === undefined ? [] : [sealed]),
      ...(stopped === undefined ? [] : [`${makersMember}.thinking`]),
    ],
  };
}

const makersMember = 'additionalModelRequestFields';
/** The field's name in Claude's own API, and its name on Bedrock. */
const thinkingNames = ['thinking', 'reasoning_config'];

function readMakers(json: JsonText): JsonObject {
  const place = findMember(json, makersMember);
  const read = place === undefined ? {} : parseJson(json.slice(place));
  return isJsonObject(read) ? read : {};
}

function makersFields(json: JsonText): readonly JsonObject[] {
  const makers = readMakers(json);
  return thinkingNames.map((name) => makers[name]).filter(isJsonObject);
}

const withoutThinking = (json: JsonText): JsonObject =>
  Object.fromEntries(Object.entries(readMakers(json)).filter(([name]) => !thinkingNames.includes(name)));

function firstForeign(messages: readonly unknown[]): string | undefined {
  for (const [at, message] of messages.entries()) {
    const content = isJsonObject(message) ? blocksIn(message.content) : [];
    const place = content.findIndex(isForeign);
    if (place >= 0) return `messages[${at}].content[${place}].reasoningContent`;
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

function isForeign(one: unknown): boolean {
  const { kind, value } = blockOf(one) ?? {};
  if (kind !== 'reasoningContent' || !isJsonObject(value)) return false;
  const { reasoningText, redactedContent } = value;
  return isEnvelope(redactedContent) || (isJsonObject(reasoningText) && isEnvelope(reasoningText.signature));
}

/** True if a result of a tool call has no thinking before it, which a Claude with a thinking budget refuses. */
function lacksThinking(messages: readonly unknown[]): boolean {
  const last = messages.findLast((message) => isJsonObject(message) && message.role === 'assistant');
  const kinds = isJsonObject(last) ? blocksIn(last.content).flatMap((one) => blockOf(one)?.kind ?? []) : [];
  return kinds.includes('toolUse') && kinds[0] !== 'reasoningContent';
}
