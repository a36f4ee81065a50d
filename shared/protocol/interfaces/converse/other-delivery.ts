// Converts a whole answer of Converse to its events, and events to an answer.
import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonText,
  parseInnerJson,
  parseJson,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { fieldText, itemsOf, JsonSlice, objectAt, openWrittenEvents, slicesOf, withFields } from '../index.ts';
import { type ConverseWriter, openConverseWriter } from './event-writer.ts';
import { openConverseFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => eventsOf(json),
  openFold,
};

function* eventsOf(json: JsonText): Generator<EventText> {
  const output = findMember(json, 'output');
  const message = output === undefined ? undefined : findMember(json, 'message', output);
  if (message === undefined) return;
  const events = openWrittenEvents();
  const writer = openConverseWriter(events.add);
  writer.start(slicesOf(json, ['role'], message).role ?? 'assistant');
  for (const block of itemsOf(json, findMember(json, 'content', message))) {
    if (!json.isObject(block)) continue;
    writeBlock(writer, json, block);
    writer.close();
    yield* events.take();
  }
  writer.end(
    slicesOf(json, ['stopReason', 'additionalModelResponseFields']),
    slicesOf(json, ['usage', 'metrics', 'trace', 'performanceConfig', 'serviceTier']),
  );
  yield* events.take();
}

/** Divides a block into its events. A block of another kind is sent whole as one piece. */
function writeBlock(writer: ConverseWriter, json: JsonText, block: number): void {
  const [toolUse, reasoning, cited] = ['toolUse', 'reasoningContent', 'citationsContent'].map((name) =>
    objectAt(json, name, block),
  );
  if (toolUse !== undefined) {
    writer.beginCall(new JsonSlice(withFields(json, toolUse, { input: undefined })));
    writer.addInput(fieldText(json, 'input', toolUse) ?? '{}');
    return;
  }
  writer.begin();
  if (reasoning !== undefined) writeThinking(writer, json, reasoning);
  else if (cited === undefined) writer.addDelta(new JsonSlice(json.slice(block)));
  else {
    for (const text of itemsOf(json, findMember(json, 'content', cited))) {
      writer.addDelta(new JsonSlice(json.slice(text)));
    }
    for (const citation of itemsOf(json, findMember(json, 'citations', cited))) {
      writer.addDelta({ citation: new JsonSlice(json.slice(citation)) });
    }
  }
}

function writeThinking(writer: ConverseWriter, json: JsonText, reasoning: number): void {
  const thinking = findMember(json, 'reasoningText', reasoning);
  if (thinking === undefined) {
    writer.addDelta({ reasoningContent: new JsonSlice(json.slice(reasoning)) });
    return;
  }
  const { text, signature } = slicesOf(json, ['text', 'signature'], thinking);
  writer.addThinking(text ?? '');
  if (signature !== undefined) writer.addSignature(signature);
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
