// Converts a whole response to its events, and events to a response.

import { type EventText, findMember, isJsonObject, type JsonText, parseJson } from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { itemsOf, JsonSlice, openWrittenEvents, slicesOf, stringAt, withFields } from '../index.ts';
import {
  type EmitResponseEvent,
  inputFieldOf,
  isInputCall,
  isTextPart,
  openResponseWriter,
  type PartPlace,
  type ResponseWriter,
  textFieldOf,
} from './event-writer.ts';
import { openResponseFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => eventsOf(json),
  openFold,
};

function* eventsOf(json: JsonText): Generator<EventText> {
  const events = openWrittenEvents();
  let sequenceNumber = 0;
  const emit: EmitResponseEvent = (type, fields, beside) => {
    const item = beside?.item === undefined ? {} : { item: beside.item };
    events.add(type, { type, sequence_number: sequenceNumber, ...fields, ...item });
    sequenceNumber += 1;
  };
  const startFields = { status: '"in_progress"', output: '[]', usage: 'null', incomplete_details: 'null' };
  const response = new JsonSlice(withFields(json, 0, startFields));
  emit('response.created', { response });
  emit('response.in_progress', { response });
  const writer = openResponseWriter(emit);
  for (const item of itemsOf(json, findMember(json, 'output'))) {
    if (!json.isObject(item)) continue;
    writeItem(writer, json, item);
    yield* events.take();
  }
  const isCut = stringAt(json, findMember(json, 'status')) === 'incomplete';
  emit(isCut ? 'response.incomplete' : 'response.completed', { response: new JsonSlice(json.text) });
  yield* events.take();
}

/** Writes the events of an item. An item of an unlisted type is sent whole. */
export function writeItem(writer: ResponseWriter, json: JsonText, item: number): void {
  const fieldOf = (name: string) => findMember(json, name, item);
  const type = stringAt(json, fieldOf('type')) ?? '';
  const isCall = isInputCall(type);
  // The summary of reasoning comes first.
  const lists = (['summary', 'content'] as const).filter((name) => itemsOf(json, fieldOf(name)).length > 0);
  const started = withFields(json, item, {
    ...(fieldOf('status') === undefined ? {} : { status: '"in_progress"' }),
    ...(isCall ? { [inputFieldOf(type)]: '""' } : {}),
    ...Object.fromEntries(lists.toReversed().map((name) => [name, '[]'])),
  });
  writer.beginItem(new JsonSlice(started));
  const { id = null, name } = slicesOf(json, ['id', 'name'], item);
  const text = isCall ? slicesOf(json, [inputFieldOf(type)], item)[inputFieldOf(type)] : undefined;
  if (isCall && text !== undefined) {
    writer.addInput(type, id, text);
    writer.endInput(type, id, { name, text });
  }
  for (const list of lists) {
    for (const [index, part] of itemsOf(json, fieldOf(list)).entries()) {
      if (json.isObject(part)) writePart(writer, { item: id, list, index }, { json, part });
    }
  }
  writer.endItem(new JsonSlice(json.slice(item)));
}

interface WholePart {
  readonly json: JsonText;
  readonly part: number;
}

/** A part of an unlisted type is sent whole. */
function writePart(writer: ResponseWriter, at: PartPlace, { json, part }: WholePart): void {
  const whole = new JsonSlice(json.slice(part));
  const type = stringAt(json, findMember(json, 'type', part)) ?? '';
  if (!isTextPart(type)) {
    writer.beginPart(at, whole);
    writer.endPart(at, whole);
    return;
  }
  const field = textFieldOf(type);
  const annotations = findMember(json, 'annotations', part);
  const startFields = { [field]: '""', ...(annotations === undefined ? {} : { annotations: '[]' }) };
  writer.beginPart(at, new JsonSlice(withFields(json, part, startFields)));
  const text = slicesOf(json, [field], part)[field];
  if (text !== undefined) {
    writer.addText(at, type, text);
    for (const [number, annotation] of itemsOf(json, annotations).entries()) {
      writer.addAnnotation(at, number, new JsonSlice(json.slice(annotation)));
    }
    writer.endText(at, type, text);
  }
  writer.endPart(at, whole);
}

/** Matches events with content that the last event may omit. Deltas add nothing to the content of these events. */
const folded = /"response\.(completed|incomplete|output_item\.done)"/;

function openFold(): StreamFold {
  const fold = openResponseFold();
  return {
    add(text) {
      const event = folded.test(text) ? parseJson(text) : undefined;
      if (isJsonObject(event)) fold.add(event);
    },
    whole: fold.answer,
  };
}
