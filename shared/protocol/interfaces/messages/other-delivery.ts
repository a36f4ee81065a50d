// Converts a whole message to its events, and events to a message.
import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonText,
  parseInnerJson,
  parseJson,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { itemsOf, JsonSlice, openWrittenEvents, slicesOf, stringAt, withFields } from '../index.ts';
import { openMessageWriter } from './event-writer.ts';
import { openMessageFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => eventsOf(json),
  openFold,
};

/** Fields of a message that are known only at its end. */
const endFields = ['stop_reason', 'stop_sequence', 'stop_details', 'container'];

function* eventsOf(json: JsonText): Generator<EventText> {
  const events = openWrittenEvents();
  const writer = openMessageWriter((event) => events.add(event.type, event));
  const unset = endFields.filter((name) => findMember(json, name) !== undefined).map((name) => [name, 'null']);
  writer.start(new JsonSlice(withFields(json, 0, { ...Object.fromEntries(unset), content: '[]' })));
  for (const block of itemsOf(json, findMember(json, 'content'))) {
    if (!json.isObject(block)) continue;
    writeBlock(writer, json, block);
    writer.close();
    yield* events.take();
  }
  writer.end(slicesOf(json, endFields), slicesOf(json, ['usage', 'context_management']));
  yield* events.take();
}

/** Divides a block into its events. A block of an unlisted type is sent whole with its start. */
function writeBlock(writer: ReturnType<typeof openMessageWriter>, json: JsonText, block: number): void {
  const { text, thinking, signature, input } = slicesOf(json, ['text', 'thinking', 'signature', 'input'], block);
  const begin = (changes: Readonly<Record<string, string>>) =>
    writer.begin(new JsonSlice(withFields(json, block, changes)));
  const type = stringAt(json, findMember(json, 'type', block));
  if (type === 'text' && text !== undefined) {
    const citations = itemsOf(json, findMember(json, 'citations', block));
    begin({ text: '""', ...(citations.length === 0 ? {} : { citations: '[]' }) });
    writer.addText(text);
    for (const citation of citations) writer.addCitation(new JsonSlice(json.slice(citation)));
  } else if (type === 'thinking' && thinking !== undefined) {
    begin({ thinking: '""', signature: '""' });
    writer.addThinking(thinking);
    if (signature !== undefined) writer.addSignature(signature);
  } else if (type?.endsWith('tool_use') === true && input !== undefined) {
    begin({ input: '{}' });
    writer.addInput(input.text);
  } else begin({});
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
