// Converts a stream of Messages for its package: events are bounded, blocks that the package does not know are removed,
// and it gets a usage that it accepts, and the end that was sent.
import { upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { formatsOwnEnd } from '../../../../protocol/hub/index.ts';
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
import { readableUsage, type UsageShape } from './readable-usage.ts';

const cacheCounts = ['cache_creation_input_tokens', 'cache_read_input_tokens'];

/** Fields of the usage of a whole answer. */
export const messageUsage: UsageShape = {
  member: 'usage',
  required: ['input_tokens', 'output_tokens'],
  counts: [],
  parts: cacheCounts,
  isWanted: true,
};

/** Events that the package knows: Anthropic may add events, and pieces of blocks, at any time. */
export const readEventTypes = [
  'message_start',
  'message_delta',
  'message_stop',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'error',
  'ping',
];
export const readDeltaTypes = [
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
  'citations_delta',
  'compaction_delta',
];
const typeIn = (types: readonly string[]): RegExp => new RegExp(`"type"\\s*:\\s*"(${types.join('|')})"`);
const knownEvents = typeIn(readEventTypes);
const knownDeltas = typeIn(readDeltaTypes);
const errorEvents = /^\s*\{\s*"type"\s*:\s*"error"/;
const usageEvents = /"type"\s*:\s*"message_(start|delta)"/;

export async function* anthropicEvents(bytes: AsyncIterable<Uint8Array>, takeOut: (text: string) => string): Bytes {
  let isFinished = false;
  let isEnded = false;
  /** Usage of the last event that has one. */
  let usage: JsonObject = { output_tokens: -1 };
  const isNew = openNewBlocks();
  function lastEvents(stop: EventText): EventText[] {
    const before = isFinished || isEnded ? [] : [unspokenEnd(usage)];
    isEnded = true;
    return [...before, stop];
  }
  const read = ({ name, text }: EventText): EventText[] => {
    if (!knownEvents.test(text)) return isEventObject(text) ? [] : [{ name, text }];
    if (isNew(text)) return [];
    if (errorEvents.test(text)) return [{ name, text: withWholeError(text) }];
    if (text.includes('"message_stop"')) return lastEvents({ name, text });
    if (!usageEvents.test(text)) return [{ name, text: takeOut(text) }];
    const event = parsedObject(text);
    if (event === undefined) return [{ name, text }];
    isFinished ||= isJsonObject(event.delta) && isEndWord(event.delta.stop_reason);
    const readable = withReadableEventUsage(event);
    if (isJsonObject(readable.usage)) usage = readable.usage;
    return [{ name, text: JSON.stringify(readable) }];
  };
  try {
    for await (const events of readEvents(bytes, upstreamEventMaxBytes)) yield eventBytes(events.flatMap(read));
  } catch (error) {
    // The answer is complete, however the connection ends then.
    if (!isFinished) throw error;
  }
  if (isFinished && !isEnded) yield eventBytes([{ name: 'message_stop', text: '{"type":"message_stop"}' }]);
}

/**
 * Returns the event with all error fields in its text: the package passes on only the text, and drops Anthropic's error
 * fields other than type and message.
 */
function withWholeError(text: string): string {
  const event = parsedObject(text);
  if (event === undefined || !isJsonObject(event.error)) return text;
  return JSON.stringify({ ...event, error: { ...event.error, data: { error: event.error } } });
}

/** Returns the end of a message that ended with its format's end marker, without a stop reason. */
const unspokenEnd = (usage: JsonObject): EventText => ({
  name: 'message_delta',
  text: JSON.stringify({
    type: 'message_delta',
    delta: { stop_reason: formatsOwnEnd, stop_sequence: null },
    usage,
  }),
});

/** Blocks, and their pieces, that the package knows; the provider may have more. Fields beside them stay. */
const knownBlocks: readonly unknown[] = ['text', 'thinking', 'redacted_thinking', 'tool_use'];
const otherBlocks = /^(compaction|fallback|\w+_tool_use|\w+_tool_result)$/;
const blockEvent = /"type"\s*:\s*"content_block_(start|delta|stop)"/;

const isKnownBlock = (block: unknown): boolean => {
  const type = isJsonObject(block) ? block.type : undefined;
  return knownBlocks.includes(type) || (typeof type === 'string' && otherBlocks.test(type));
};

/**
 * Returns a function for one stream that says whether an event is of a block, or a piece of one, that the package does
 * not know.
 */
function openNewBlocks(): (text: string) => boolean {
  const openBlocks = new Set<unknown>();
  return (text) => {
    const kind = blockEvent.exec(text)?.[1];
    if (kind === undefined) return false;
    if (kind !== 'start' && openBlocks.size === 0)
      return kind === 'delta' && !knownDeltas.test(text) && isEventObject(text);
    const { index, content_block: block } = parsedObject(text) ?? {};
    if (kind === 'start' && isJsonObject(block) && typeof block.type === 'string' && !isKnownBlock(block))
      openBlocks.add(index);
    if (openBlocks.has(index)) return true;
    return kind === 'delta' && !knownDeltas.test(text);
  };
}

/** Returns a whole answer without blocks that the package does not know. */
export function withKnownBlocks(text: string): string {
  const json = scanAnswer(text);
  const list = json && findMember(json, 'content');
  if (json === undefined || list === undefined || !json.isArray(list)) return text;
  const isNewAt = (block: number) => {
    const read = pick(json, block, blockShape);
    return isJsonObject(read) && typeof read.type === 'string' && !isKnownBlock(read);
  };
  const isNew = [...json.inside(list)].map(isNewAt);
  if (!isNew.includes(true)) return text;
  const blocks = parseJson(json.slice(list)) as readonly unknown[];
  return rewriteMembers(json, new Map([['content', blocks.filter((_block, place) => !isNew[place])]]));
}

const blockShape = { members: new Map([['type', {}]]) };

const isEventObject = (text: string): boolean => typeof parsedObject(text)?.type === 'string';

/** Corrects the usage of an event: Anthropic's events report the input at the start, and the output at the end. */
function withReadableEventUsage(event: JsonObject): JsonObject {
  const { type, message, usage } = event;
  if (type === 'message_start' && isJsonObject(message)) {
    const read = readableUsage(message.usage, { required: ['input_tokens'], counts: [], parts: cacheCounts });
    return { ...event, message: { ...message, usage: read } };
  }
  const shape = { required: ['output_tokens'], counts: ['input_tokens'], parts: cacheCounts };
  return type === 'message_delta' ? { ...event, usage: readableUsage(usage, shape) } : event;
}
