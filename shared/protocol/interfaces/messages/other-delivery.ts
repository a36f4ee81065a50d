// A whole message, and its events.
import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonText,
  parseInnerJson,
  parseJson,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { itemsOf, stringAt, withFields } from '../index.ts';
import { openMessageFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => eventsOf(json),
  openFold,
};

const event = (type: string, fields: string): EventText => ({ name: type, text: `{"type":"${type}"${fields}}` });

/** Fields of a message that are known only at its end. */
const endFields = ['stop_reason', 'stop_sequence', 'stop_details', 'container'];

function* eventsOf(json: JsonText): Generator<EventText> {
  const unset = endFields.filter((name) => findMember(json, name) !== undefined).map((name) => [name, 'null']);
  yield event('message_start', `,"message":${withFields(json, 0, { ...Object.fromEntries(unset), content: '[]' })}`);
  let index = 0;
  for (const block of itemsOf(json, findMember(json, 'content'))) {
    if (!json.isObject(block)) continue;
    const { start, deltas } = spreadBlock(json, block);
    yield event('content_block_start', `,"index":${index},"content_block":${start}`);
    for (const delta of deltas) yield event('content_block_delta', `,"index":${index},"delta":${delta}`);
    yield event('content_block_stop', `,"index":${index}`);
    index += 1;
  }
  const textOf = (name: string) => {
    const value = findMember(json, name);
    return value === undefined ? undefined : json.slice(value);
  };
  const end = endFields.flatMap((name) => {
    const text = textOf(name);
    return text === undefined ? [] : [`"${name}":${text}`];
  });
  const beside = ['usage', 'context_management'].flatMap((name) => {
    const text = textOf(name);
    return text === undefined ? [] : [`,"${name}":${text}`];
  });
  yield event('message_delta', `,"delta":{${end.join(',')}}${beside.join('')}`);
  yield event('message_stop', '');
}

interface SpreadBlock {
  readonly start: string;
  readonly deltas: readonly string[];
}

/** A block of an unlisted type is sent whole with its start. */
function spreadBlock(json: JsonText, block: number): SpreadBlock {
  const fieldOf = (name: string) => findMember(json, name, block);
  const delta = (type: string, field: string, text: string) => `{"type":"${type}","${field}":${text}}`;
  const type = stringAt(json, fieldOf('type'));
  const [text, thinking, signature, citations, input] = ['text', 'thinking', 'signature', 'citations', 'input'].map(
    fieldOf,
  );
  if (type === 'text' && text !== undefined) {
    const cited = itemsOf(json, citations);
    return {
      start: withFields(json, block, { text: '""', ...(cited.length === 0 ? {} : { citations: '[]' }) }),
      deltas: [
        delta('text_delta', 'text', json.slice(text)),
        ...cited.map((citation) => delta('citations_delta', 'citation', json.slice(citation))),
      ],
    };
  }
  if (type === 'thinking' && thinking !== undefined) {
    return {
      start: withFields(json, block, { thinking: '""', signature: '""' }),
      deltas: [
        delta('thinking_delta', 'thinking', json.slice(thinking)),
        ...(signature === undefined ? [] : [delta('signature_delta', 'signature', json.slice(signature))]),
      ],
    };
  }
  if (type?.endsWith('tool_use') === true && input !== undefined) {
    return {
      start: withFields(json, block, { input: '{}' }),
      deltas: [delta('input_json_delta', 'partial_json', JSON.stringify(json.slice(input)))],
    };
  }
  return { start: json.slice(block), deltas: [] };
}

function openFold(): StreamFold {
  const fold = openMessageFold((text) => parseInnerJson(text)?.value);
  return {
    add(text) {
      const event = parseJson(text);
      if (isJsonObject(event)) fold.add(event);
    },
    whole: fold.answer,
  };
}
