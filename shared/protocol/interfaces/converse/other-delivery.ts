// A whole answer of Converse, and its events.
import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonText,
  parseInnerJson,
  parseJson,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { fieldText, itemsOf, withFields } from '../index.ts';
import { openConverseFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => eventsOf(json),
  openFold,
};

const objectOf = (fields: readonly (readonly [name: string, text: string | undefined])[]): string =>
  `{${fields.flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${text}`])).join(',')}}`;

function* eventsOf(json: JsonText): Generator<EventText> {
  const output = findMember(json, 'output');
  const message = output === undefined ? undefined : findMember(json, 'message', output);
  if (message === undefined) return;
  yield { name: 'messageStart', text: objectOf([['role', fieldText(json, 'role', message) ?? '"assistant"']]) };
  let index = 0;
  for (const block of itemsOf(json, findMember(json, 'content', message))) {
    if (!json.isObject(block)) continue;
    const place = String(index);
    const { start, deltas } = spreadBlock(json, block);
    if (start !== undefined)
      yield {
        name: 'contentBlockStart',
        text: objectOf([
          ['contentBlockIndex', place],
          ['start', start],
        ]),
      };
    for (const delta of deltas)
      yield {
        name: 'contentBlockDelta',
        text: objectOf([
          ['contentBlockIndex', place],
          ['delta', delta],
        ]),
      };
    yield { name: 'contentBlockStop', text: objectOf([['contentBlockIndex', place]]) };
    index += 1;
  }
  const fields = (names: readonly string[]) => names.map((name) => [name, fieldText(json, name)] as const);
  yield { name: 'messageStop', text: objectOf(fields(['stopReason', 'additionalModelResponseFields'])) };
  yield {
    name: 'metadata',
    text: objectOf(fields(['usage', 'metrics', 'trace', 'performanceConfig', 'serviceTier'])),
  };
}

interface SpreadBlock {
  readonly start?: string;
  readonly deltas: readonly string[];
}

/** A block of another kind is sent whole as its piece. */
function spreadBlock(json: JsonText, block: number): SpreadBlock {
  const [toolUse, reasoning, cited] = ['toolUse', 'reasoningContent', 'citationsContent'].map((name) =>
    findMember(json, name, block),
  );
  if (toolUse !== undefined && json.isObject(toolUse)) {
    const input = fieldText(json, 'input', toolUse) ?? '{}';
    return {
      start: objectOf([['toolUse', withFields(json, toolUse, { input: undefined })]]),
      deltas: [objectOf([['toolUse', objectOf([['input', JSON.stringify(input)]])]])],
    };
  }
  if (reasoning !== undefined && json.isObject(reasoning)) return { deltas: thinkingDeltas(json, reasoning) };
  if (cited !== undefined && json.isObject(cited)) {
    const texts = itemsOf(json, findMember(json, 'content', cited)).map((one) => json.slice(one));
    const citations = itemsOf(json, findMember(json, 'citations', cited)).map((one) =>
      objectOf([['citation', json.slice(one)]]),
    );
    return { deltas: [...texts, ...citations] };
  }
  return { deltas: [json.slice(block)] };
}

function thinkingDeltas(json: JsonText, reasoning: number): readonly string[] {
  const thinking = findMember(json, 'reasoningText', reasoning);
  if (thinking === undefined) return [objectOf([['reasoningContent', json.slice(reasoning)]])];
  const [text, signature] = ['text', 'signature'].map((name) => fieldText(json, name, thinking));
  return [
    objectOf([['reasoningContent', objectOf([['text', text ?? '""']])]]),
    ...(signature === undefined ? [] : [objectOf([['reasoningContent', objectOf([['signature', signature]])]])]),
  ];
}

function openFold(): StreamFold {
  const fold = openConverseFold((text) => parseInnerJson(text)?.value);
  return {
    add(text) {
      const event = parseJson(text);
      if (isJsonObject(event)) fold.add(event);
    },
    whole: fold.answer,
  };
}
