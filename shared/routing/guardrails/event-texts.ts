// The texts in one event of a stream: pieces of a text that others continue, or a whole one.
import { findMember, type JsonText } from '../../protocol/wire/index.ts';
import { type FoundText, textsIn } from './find-texts.ts';

export interface TextOfEvent extends FoundText {
  /** Names the text that it is a piece of. Undefined for a whole text. */
  readonly channel: string | undefined;
}

export type ReadEventTexts = (json: JsonText) => TextOfEvent[];

export const textsOfEvent: Readonly<Record<string, ReadEventTexts>> = {
  'chat-completions': chatTexts,
  messages: messageTexts,
  responses: responseTexts,
  transcriptions: responseTexts,
};

const itemsIn = (json: JsonText, list: number | undefined): number[] =>
  list !== undefined && json.isArray(list) ? [...json.inside(list)] : [];

function chatTexts(json: JsonText): TextOfEvent[] {
  return itemsIn(json, findMember(json, 'choices')).flatMap((choice, place) =>
    json.isObject(choice) ? [...piecesIn(json, choice, String(numberAt(json, 'index', choice) ?? place))] : [],
  );
}

/** Each string under the path of names that leads to it; of lists the index that their items say. */
function* piecesIn(json: JsonText, value: number, path: string): Generator<TextOfEvent> {
  if (json.isObject(value)) {
    for (const { name, value: inner } of json.members(value)) {
      const innerPath = `${path}/${name}`;
      // Media, and thinking that only its provider reads.
      if (name === 'data') continue;
      if (json.isString(inner)) yield* channelOf(json, inner, name, innerPath);
      else if (name !== 'logprobs') yield* piecesIn(json, inner, innerPath);
    }
  } else if (json.isArray(value)) {
    let place = 0;
    for (const inner of json.inside(value)) {
      const index = json.isObject(inner) ? numberAt(json, 'index', inner) : undefined;
      if (json.isString(inner)) yield* channelOf(json, inner, '', `${path}/${place}`);
      else yield* piecesIn(json, inner, `${path}/${index ?? place}`);
      place += 1;
    }
  }
}

function* channelOf(json: JsonText, value: number, name: string, channel: string): Generator<TextOfEvent> {
  for (const found of textsIn(json, value, name, false, true)) yield { ...found, channel };
}

function messageTexts(json: JsonText): TextOfEvent[] {
  const type = wordAt(json, 'type');
  const held = type === 'content_block_delta' ? 'delta' : type === 'content_block_start' ? 'content_block' : undefined;
  const object = held === undefined ? undefined : findMember(json, held);
  if (object === undefined || !json.isObject(object)) return [];
  const index = numberAt(json, 'index') ?? 0;
  const isEncrypted = wordAt(json, 'type', object) === 'redacted_thinking';
  return json.members(object).flatMap(({ name, value }): TextOfEvent[] => {
    if (isEncrypted && name === 'data') return [];
    if (json.isString(value)) return [...channelOf(json, value, name, `${index}/${name}`)];
    return [...textsIn(json, value, name)].map((found) => ({ ...found, channel: undefined }));
  });
}

function responseTexts(json: JsonText): TextOfEvent[] {
  const type = wordAt(json, 'type') ?? '';
  const delta = findMember(json, 'delta');
  if (type.endsWith('.delta') && delta !== undefined && json.isString(delta)) {
    const places = ['output_index', 'content_index', 'summary_index'].map((name) => numberAt(json, name) ?? '');
    const name = /arguments/.test(type) ? 'arguments' : 'text';
    return [...channelOf(json, delta, name, [type, ...places].join('/'))];
  }
  return json.members().flatMap(({ name, value }): TextOfEvent[] => {
    const output = name === 'response' && json.isObject(value) ? findMember(json, 'output', value) : undefined;
    const read = name === 'response' ? output : value;
    if (read === undefined) return [];
    return [...textsIn(json, read, name === 'response' ? 'output' : name)].map((found) => ({
      ...found,
      channel: undefined,
    }));
  });
}

export function numberAt(json: JsonText, name: string, object = 0): number | undefined {
  const value = findMember(json, name, object);
  return value !== undefined && json.isNumber(value) ? Number(json.slice(value)) : undefined;
}

export function wordAt(json: JsonText, name: string, object = 0): string | undefined {
  const value = findMember(json, name, object);
  if (value === undefined || !json.isString(value)) return undefined;
  return JSON.parse(json.slice(value)) as string;
}

export const objectAt = (json: JsonText, name: string, object = 0): number | undefined => {
  const value = findMember(json, name, object);
  return value !== undefined && json.isObject(value) ? value : undefined;
};

export const parsedAt = (json: JsonText, value: number | undefined): unknown =>
  value === undefined ? undefined : (JSON.parse(json.slice(value)) as unknown);
