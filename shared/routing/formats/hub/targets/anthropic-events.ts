// Converts a stream of Anthropic's Messages API, so that the package @ai-sdk/anthropic accepts it. Events have a
// maximum size, blocks that the package does not know are removed, and usage fields get valid values. If the provider
// sends no stop reason before its end marker, an event with one is added.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { impliedFinishReason } from '../../../../protocol/hub/index.ts';
import { scanAnswer } from '../../../../protocol/interfaces/index.ts';
import {
  type EventText,
  findMember,
  isEndWord,
  isJsonObject,
  type JsonObject,
  parseJson,
  pick,
  readEvents,
  rewriteMembers,
} from '../../../../protocol/wire/index.ts';
import { type Bytes, eventBytes, parsedObject } from './body-members.ts';
import { acceptedUsage, type UsageShape } from './readable-usage.ts';

const cacheCounts = ['cache_creation_input_tokens', 'cache_read_input_tokens'];

/** Fields of the usage of a whole answer. */
export const messageUsage: UsageShape = {
  member: 'usage',
  required: ['input_tokens', 'output_tokens'],
  optionalCounts: [],
  subtotals: cacheCounts,
  isUsageRequired: true,
};

/** Types of events that the package can parse. Other types are removed, because Anthropic may add types at any time. */
export const knownEventTypes = [
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'error',
  'ping',
];
/** Types of pieces of a block that the package can parse. */
export const knownDeltaTypes = [
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
  'citations_delta',
  'compaction_delta',
];
const typeIn = (types: readonly string[]): RegExp => new RegExp(`"type"\\s*:\\s*"(${types.join('|')})"`);
const knownEventPattern = typeIn(knownEventTypes);
const knownDeltaPattern = typeIn(knownDeltaTypes);
const errorEventPattern = /^\s*\{\s*"type"\s*:\s*"error"/;
const usageEventPattern = /"type"\s*:\s*"message_(start|delta)"/;

export async function* anthropicEvents(
  bytes: AsyncIterable<Uint8Array>,
  replaceArguments: (text: string) => string,
): Bytes {
  let hasStopReason = false;
  let hasMessageStop = false;
  /** Usage of the last event that has usage. Until then, the invalid count lets the usage be estimated. */
  let usage: JsonObject = { output_tokens: -1 };
  const isInUnknownBlock = unknownBlockFilter();
  function lastEvents(stop: EventText): EventText[] {
    const stopReason = hasStopReason || hasMessageStop ? [] : [missingStopReason(usage)];
    hasMessageStop = true;
    return [...stopReason, stop];
  }
  const convertEvent = ({ name, text }: EventText): EventText[] => {
    // The package reports a text that is no event as an error; only an event of an unknown type is removed.
    if (!knownEventPattern.test(text)) return isEventObject(text) ? [] : [{ name, text }];
    if (isInUnknownBlock(text)) return [];
    if (errorEventPattern.test(text)) return [{ name, text: withWholeError(text) }];
    if (text.includes('"message_stop"')) return lastEvents({ name, text });
    if (!usageEventPattern.test(text)) return [{ name, text: replaceArguments(text) }];
    const event = parsedObject(text);
    if (event === undefined) return [{ name, text }];
    hasStopReason ||= isJsonObject(event.delta) && isEndWord(event.delta.stop_reason);
    const accepted = withAcceptedUsage(event);
    if (isJsonObject(accepted.usage)) usage = accepted.usage;
    return [{ name, text: JSON.stringify(accepted) }];
  };
  try {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) yield eventBytes(events.flatMap(convertEvent));
  } catch (error) {
    // After a stop reason the answer is complete, so an error of the connection is ignored.
    if (!hasStopReason) throw error;
  }
  if (hasStopReason && !hasMessageStop) yield eventBytes([{ name: 'message_stop', text: '{"type":"message_stop"}' }]);
}

/**
 * Returns the error event with a copy of the whole error in `error.data`. The package keeps that field as it is, and
 * drops fields of an error that it does not know.
 */
function withWholeError(text: string): string {
  const event = parsedObject(text);
  if (event === undefined || !isJsonObject(event.error)) return text;
  return JSON.stringify({ ...event, error: { ...event.error, data: { error: event.error } } });
}

/** Returns the `message_delta` event for a message that got `message_stop` without a stop reason. */
const missingStopReason = (usage: JsonObject): EventText => ({
  name: 'message_delta',
  text: JSON.stringify({
    type: 'message_delta',
    delta: { stop_reason: impliedFinishReason, stop_sequence: null },
    usage,
  }),
});

/** Types of blocks that the package can parse. Other blocks are removed; other fields of the answer are kept. */
const knownBlocks: readonly unknown[] = ['text', 'thinking', 'redacted_thinking', 'tool_use'];
const knownBlockPattern = /^(compaction|fallback|\w+_tool_use|\w+_tool_result)$/;
const blockEventPattern = /"type"\s*:\s*"content_block_(start|delta|stop)"/;

const isKnownBlock = (block: unknown): boolean => {
  const type = isJsonObject(block) ? block.type : undefined;
  return knownBlocks.includes(type) || (typeof type === 'string' && knownBlockPattern.test(type));
};

/**
 * Returns a function for the events of one stream. It returns true for an event of a block that the package does not
 * know, and for a piece of a type that the package does not know.
 */
function unknownBlockFilter(): (text: string) => boolean {
  const openUnknownBlocks = new Set<unknown>();
  return (text) => {
    const kind = blockEventPattern.exec(text)?.[1];
    if (kind === undefined) return false;
    // While no unknown block is open, the event's index does not matter, and most events need not be parsed.
    if (kind !== 'start' && openUnknownBlocks.size === 0)
      return kind === 'delta' && !knownDeltaPattern.test(text) && isEventObject(text);
    const { index, content_block: block } = parsedObject(text) ?? {};
    if (kind === 'start' && isJsonObject(block) && typeof block.type === 'string' && !isKnownBlock(block))
      openUnknownBlocks.add(index);
    if (openUnknownBlocks.has(index)) return true;
    return kind === 'delta' && !knownDeltaPattern.test(text);
  };
}

/** Returns a whole answer without blocks that the package does not know. */
export function withKnownBlocks(text: string): string {
  const json = scanAnswer(text);
  const list = json && findMember(json, 'content');
  if (json === undefined || list === undefined || !json.isArray(list)) return text;
  const isUnknownAt = (block: number) => {
    const read = pick(json, block, blockShape);
    return isJsonObject(read) && typeof read.type === 'string' && !isKnownBlock(read);
  };
  const isUnknown = [...json.inside(list)].map(isUnknownAt);
  if (!isUnknown.includes(true)) return text;
  const blocks = parseJson(json.slice(list)) as readonly unknown[];
  return rewriteMembers(json, new Map([['content', blocks.filter((_block, place) => !isUnknown[place])]]));
}

const blockShape = { members: new Map([['type', {}]]) };

const isEventObject = (text: string): boolean => typeof parsedObject(text)?.type === 'string';

/** Corrects the usage of an event. Anthropic's events report the input at the start, and the output at the end. */
function withAcceptedUsage(event: JsonObject): JsonObject {
  const { type, message, usage } = event;
  if (type === 'message_start' && isJsonObject(message)) {
    const read = acceptedUsage(message.usage, {
      required: ['input_tokens'],
      optionalCounts: [],
      subtotals: cacheCounts,
    });
    return { ...event, message: { ...message, usage: read } };
  }
  const shape = { required: ['output_tokens'], optionalCounts: ['input_tokens'], subtotals: cacheCounts };
  return type === 'message_delta' ? { ...event, usage: acceptedUsage(usage, shape) } : event;
}
