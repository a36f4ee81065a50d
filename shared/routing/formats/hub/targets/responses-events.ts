// Converts a stream of Responses for its package. Events are bounded, and only events with output are passed on, each
// with the fields that the package reads. The request's settings in a response are dropped.
import { jsonValuesMax, upstreamEventMaxBytes } from '../../../../foundation/constants/index.ts';
import { isJsonObject, type JsonObject, readEvents, scanJson } from '../../../../protocol/wire/index.ts';
import { type Bytes, eventBytes, parsedObject } from './body-members.ts';
import { readableOpenAiUsage, responseUsage } from './openai-usage.ts';
import { phaseIn, readableIncomplete, refusalIdPrefix, textOr } from './responses-answer.ts';

/** Returns the type at the start, where most providers write it; undefined when it must be searched for. */
const typeOf = (text: string): string | undefined =>
  /^\{\s*(?:"sequence_number"\s*:\s*\d+\s*,\s*)?"type"\s*:\s*"([\w.]+)"/.exec(text)?.[1];

/** The handling of an event. */
type EventUse =
  /** The event is a piece of the answer, and is passed on unchanged. */
  | 'piece'
  /** The event is parsed. */
  | 'read'
  /** The event repeats other events, or is about a tool that a provider ran itself. */
  | 'ignored';

const uses: Readonly<Record<string, EventUse>> = {
  error: 'read',
  'response.created': 'read',
  'response.in_progress': 'read',
  'response.completed': 'read',
  'response.incomplete': 'read',
  'response.failed': 'read',
  'response.cancelled': 'read',
  'response.queued': 'ignored',
  'response.output_item.added': 'read',
  'response.output_item.done': 'read',
  'response.content_part.added': 'ignored',
  'response.content_part.done': 'ignored',
  'response.output_text.delta': 'piece',
  'response.output_text.done': 'ignored',
  'response.output_text.annotation.added': 'ignored',
  'response.refusal.delta': 'read',
  'response.refusal.done': 'ignored',
  'response.function_call_arguments.delta': 'piece',
  'response.function_call_arguments.done': 'ignored',
  'response.custom_tool_call_input.delta': 'ignored',
  'response.custom_tool_call_input.done': 'ignored',
  'response.reasoning_summary_part.added': 'piece',
  'response.reasoning_summary_part.done': 'piece',
  'response.reasoning_summary_text.delta': 'piece',
  'response.reasoning_summary_text.done': 'ignored',
  'response.reasoning_text.delta': 'read',
  'response.reasoning_text.done': 'ignored',
  'response.compaction.compacting': 'ignored',
  'response.audio.delta': 'ignored',
  'response.audio.done': 'ignored',
};

/** Events of tools that a provider runs, and of transcripts. */
const ignoredFamilies =
  /^response\.(audio\.transcript|code_interpreter_call|code_interpreter_call_code|file_search_call|image_generation_call|mcp_call|mcp_call_arguments|mcp_list_tools|shell_call_command|shell_call_output_content|web_search_call)\./;

export const isListedEvent = (type: string): boolean => Object.hasOwn(uses, type) || ignoredFamilies.test(type);

/** Returns the use; an unknown event is ignored too. */
const useOf = (type: unknown): EventUse =>
  typeof type === 'string' && Object.hasOwn(uses, type) ? (uses[type] ?? 'ignored') : 'ignored';
const ends: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

export async function* responseEvents(bytes: AsyncIterable<Uint8Array>): Bytes {
  const open = openItems();
  for await (const events of readEvents(bytes, upstreamEventMaxBytes)) {
    const read = events.map(({ text }) => readEvent(text, open));
    yield eventBytes(read.flatMap(({ out }) => out.map((event) => ({ text: event }))));
    // The answer is complete, however the connection ends then.
    if (read.some(({ isLast }) => isLast)) return;
  }
}

interface ReadEvent {
  readonly out: readonly string[];
  readonly isLast: boolean;
}

interface OpenItems {
  /** Refusals that have started, by their item. */
  readonly refusals: Set<string>;
  /** Indexes in the output of items that began, that ended, and that had pieces. */
  readonly begun: Set<number>;
  readonly ended: Set<number>;
  /** Ended items by id, because indexes in the last event may differ, and ids may change. */
  readonly endedIds: Set<unknown>;
  readonly pieces: Set<number>;
  /** True if an item came without its index. No item is then known to be missing. */
  isUnplaced: boolean;
  /** True from the first event of an item on, even of an item that no other interface has. */
  hasItem: boolean;
}

const openItems = (): OpenItems => ({
  refusals: new Set(),
  begun: new Set(),
  ended: new Set(),
  endedIds: new Set(),
  pieces: new Set(),
  isUnplaced: false,
  hasItem: false,
});

const placeInText = /"output_index"\s*:\s*(\d+)/;

function addPiece(text: string, open: OpenItems): void {
  const { pieces } = open;
  open.hasItem = true;
  const place = placeInText.exec(text)?.[1];
  if (place !== undefined) pieces.add(Number(place));
}

function readEvent(text: string, open: OpenItems): ReadEvent {
  const type = typeOf(text);
  if (type !== undefined && useOf(type) === 'piece') {
    addPiece(text, open);
    return { out: [text], isLast: false };
  }
  if (type !== undefined && useOf(type) === 'ignored') {
    open.hasItem ||= type !== 'response.queued';
    return { out: [], isLast: false };
  }
  const event = readObject(text);
  // The package reports the fault.
  if (event === undefined) return { out: [text], isLast: false };
  if (useOf(event.type) === 'piece' || /\.(refusal|reasoning_text)\.delta$/.test(String(event.type)))
    addPiece(text, open);
  const out = readableEvents(event, open).map((one) => JSON.stringify(one));
  return { out, isLast: typeof event.type === 'string' && ends.has(event.type) };
}

/** Length of text that may have more values than allowed, because a value takes at least two characters. */
const manyCharacters = jsonValuesMax * 2;
const eventDepthMax = 512;

function readObject(text: string): JsonObject | undefined {
  const isBounded =
    text.length <= manyCharacters ||
    scanJson(text, { depthMax: eventDepthMax, valuesMax: jsonValuesMax }).kind !== 'fault';
  if (!isBounded) throw new RangeError('an event holds too many values');
  return parsedObject(text);
}

function readableEvents(event: JsonObject, open: OpenItems): JsonObject[] {
  const { refusals } = open;
  const { type, response, item, output_index: place } = event;
  const snapshot = isJsonObject(response) ? response : {};
  switch (type) {
    case 'response.created':
    case 'response.in_progress':
      return [
        {
          type,
          response: { id: textOr(snapshot.id, ''), created_at: createdAt(snapshot), model: textOr(snapshot.model, '') },
        },
      ];
    case 'response.completed':
    case 'response.incomplete':
      if (type === 'response.completed' && !hasItem(snapshot.output, open)) return [failure(noItem)];
      return [
        ...missingItems(snapshot.output, open),
        {
          type,
          response: {
            incomplete_details: readableIncomplete(snapshot, type === 'response.incomplete'),
            usage: readableOpenAiUsage(snapshot.usage, responseUsage),
          },
        },
      ];
    case 'response.failed':
    case 'response.cancelled':
      return [failure(snapshot.error)];
    case 'error':
      return [failure(isJsonObject(event.error) ? event.error : event)];
    case 'response.output_item.added':
    case 'response.output_item.done':
      open.hasItem = true;
      return isJsonObject(item) ? placedItem(type, item, place, open) : [];
    case 'response.refusal.delta':
      return refusalPiece(event, refusals);
    // The event comes from models that show all of their thinking.
    case 'response.reasoning_text.delta':
      return [{ ...event, type: 'response.reasoning_summary_text.delta', summary_index: 0 }];
    default:
      return useOf(type) === 'piece' ? [event] : [];
  }
}

const createdAt = ({ created_at: created }: JsonObject): number => (typeof created === 'number' ? created : 0);

/** Converts a failed response to one form, whichever of the two forms it has. */
function failure(error: unknown): JsonObject {
  const { type, code, message } = isJsonObject(error) ? (error as JsonObject) : {};
  const errorFields = { type: textOr(type, 'error'), code: textOr(code, null), message: textOr(message, '') };
  return { type: 'error', sequence_number: 0, error: errorFields };
}

const noItem = { code: 'server_error', message: 'the stream is complete, and has no item' };
const hasItem = (output: unknown, open: OpenItems): boolean =>
  open.hasItem || (Array.isArray(output) && output.length > 0);

const addedType = 'response.output_item.added';
const done = 'response.output_item.done';

/** Returns items that only the last event has. */
const missingItems = (output: unknown, open: OpenItems): JsonObject[] =>
  open.isUnplaced || !Array.isArray(output)
    ? []
    : output.flatMap((item: unknown, place) =>
        isJsonObject(item) && !open.ended.has(place) && !open.endedIds.has(item.id)
          ? placedItem(done, item, place, open)
          : [],
      );

/**
 * Returns the events of an item that the provider did not send before: the start of the item, and its text in one
 * piece.
 */
function placedItem(type: string, item: JsonObject, place: unknown, open: OpenItems): JsonObject[] {
  const { begun, ended, pieces, refusals } = open;
  open.isUnplaced ||= typeof place !== 'number';
  if (typeof place !== 'number' || type === addedType) {
    if (typeof place === 'number') begun.add(place);
    return readableItem(type, item, place, refusals);
  }
  ended.add(place);
  if (item.id !== undefined) open.endedIds.add(item.id);
  const begin = begun.has(place) ? [] : readableItem(addedType, { ...item, arguments: '' }, place, refusals);
  const texts = pieces.has(place) ? [] : unsentPieces(item, place, refusals);
  return [...begin, ...texts, ...readableItem(type, item, place, refusals)];
}

function unsentPieces(item: JsonObject, place: number, refusals: Set<string>): JsonObject[] {
  const id = itemIdOf(item, place);
  const head = { item_id: id, output_index: place };
  if (item.type === 'function_call') {
    const delta = textOr(item.arguments, '');
    return delta === '' ? [] : [{ type: 'response.function_call_arguments.delta', ...head, delta }];
  }
  const list = item.type === 'reasoning' ? item.summary : item.type === 'message' ? item.content : [];
  return (Array.isArray(list) ? list : []).filter(isJsonObject).flatMap((part, at): JsonObject[] => {
    if (part.type === 'refusal') return refusalPiece({ item_id: id, delta: part.refusal }, refusals);
    const delta = textOr(part.text, '');
    if (delta === '') return [];
    if (item.type === 'message') return [{ type: 'response.output_text.delta', ...head, delta }];
    const summary = { ...head, summary_index: at };
    return [
      ...(at === 0 ? [] : [{ type: 'response.reasoning_summary_part.added', ...summary }]),
      { type: 'response.reasoning_summary_text.delta', ...summary, delta },
      { type: 'response.reasoning_summary_part.done', ...summary },
    ];
  });
}

const itemIdOf = (item: JsonObject, place: unknown): string =>
  textOr(item.id, textOr(item.call_id, `item_${String(place)}`));

function readableItem(type: string, item: JsonObject, place: unknown, refusals: Set<string>): JsonObject[] {
  const id = itemIdOf(item, place);
  const head = { type, output_index: place };
  switch (item.type) {
    case 'message':
      return [
        ...(type.endsWith('done') && refusals.has(id) ? [refusalEvent(type, refusalIdPrefix + id)] : []),
        { ...head, item: { type: 'message', id, ...phaseIn(item) } },
      ];
    case 'reasoning':
      // The encrypted text at the start is not final.
      return [{ ...head, item: { type: 'reasoning', id, ...(type.endsWith('done') ? encryptedOf(item) : {}) } }];
    case 'function_call': {
      const { call_id: callId, name, arguments: text } = item;
      if (typeof name !== 'string') return [];
      const call = { type: 'function_call', id, call_id: textOr(callId, id), name, arguments: textOr(text, '') };
      return [{ ...head, item: { ...call, ...(type.endsWith('done') ? { status: 'completed' } : {}) } }];
    }
    default:
      return [];
  }
}

const encryptedOf = ({ encrypted_content: encrypted }: JsonObject): JsonObject => ({
  encrypted_content: textOr(encrypted, null),
});

/** Returns a refusal as a text of its own. */
function refusalPiece({ item_id: item, delta }: JsonObject, refusals: Set<string>): JsonObject[] {
  const id = textOr(item, 'msg');
  const refusalId = refusalIdPrefix + id;
  const startEvents = refusals.has(id) ? [] : [refusalEvent('response.output_item.added', refusalId)];
  refusals.add(id);
  return [...startEvents, { type: 'response.output_text.delta', item_id: refusalId, delta: textOr(delta, '') }];
}

/** Index that no item of a provider has. */
const refusalPlace = -1;

const refusalEvent = (type: string, id: string): JsonObject => ({
  type,
  output_index: refusalPlace,
  item: { type: 'message', id },
});
