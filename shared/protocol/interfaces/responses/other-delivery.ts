// A whole response, and its events.

import { type EventText, findMember, isJsonObject, type JsonText, parseJson } from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { itemsOf, stringAt, withFields } from '../index.ts';
import { openResponseFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => eventsOf(json),
  openFold,
};

/** Fields of an event, as texts. */
type Texts = Readonly<Record<string, string>>;
interface EventDraft {
  readonly type: string;
  readonly texts: Texts;
}

function* eventsOf(json: JsonText): Generator<EventText> {
  let sequenceNumber = 0;
  const event = ({ type, texts }: EventDraft): EventText => {
    const fields = Object.entries(texts).map(([name, text]) => `,"${name}":${text}`);
    const text = `{"type":"${type}","sequence_number":${sequenceNumber}${fields.join('')}}`;
    sequenceNumber += 1;
    return { name: type, text };
  };
  const begun = withFields(json, 0, {
    status: '"in_progress"',
    output: '[]',
    usage: 'null',
    incomplete_details: 'null',
  });
  yield event({ type: 'response.created', texts: { response: begun } });
  yield event({ type: 'response.in_progress', texts: { response: begun } });
  let place = 0;
  for (const item of itemsOf(json, findMember(json, 'output'))) {
    if (!json.isObject(item)) continue;
    for (const itemEvent of itemEvents(json, item, String(place))) yield event(itemEvent);
    place += 1;
  }
  const isCut = stringAt(json, findMember(json, 'status')) === 'incomplete';
  yield event({ type: isCut ? 'response.incomplete' : 'response.completed', texts: { response: json.text } });
}

/** Text fields of items, and the events that bring them. */
const textFields: Readonly<Record<string, { readonly field: string; readonly event: string }>> = {
  function_call: { field: 'arguments', event: 'response.function_call_arguments' },
  custom_tool_call: { field: 'input', event: 'response.custom_tool_call_input' },
};

/** An item of an unlisted type is sent whole. */
function* itemEvents(json: JsonText, item: number, place: string): Generator<EventDraft> {
  const fieldOf = (name: string) => findMember(json, name, item);
  const type = stringAt(json, fieldOf('type')) ?? '';
  const inner = Object.hasOwn(textFields, type) ? textFields[type] : undefined;
  const lists = ['content', 'summary'].filter((name) => itemsOf(json, fieldOf(name)).length > 0);
  const started = withFields(json, item, {
    ...(fieldOf('status') === undefined ? {} : { status: '"in_progress"' }),
    ...(inner === undefined ? {} : { [inner.field]: '""' }),
    ...Object.fromEntries(lists.map((name) => [name, '[]'])),
  });
  const at = { output_index: place };
  yield { type: 'response.output_item.added', texts: { ...at, item: started } };
  const id = fieldOf('id');
  const inItem = { item_id: id === undefined ? 'null' : json.slice(id), ...at };
  const text = inner === undefined ? undefined : fieldOf(inner.field);
  if (inner !== undefined && text !== undefined) {
    yield { type: `${inner.event}.delta`, texts: { ...inItem, delta: json.slice(text) } };
    const name = fieldOf('name');
    const named = type === 'function_call' && name !== undefined ? { name: json.slice(name) } : {};
    yield { type: `${inner.event}.done`, texts: { ...inItem, ...named, [inner.field]: json.slice(text) } };
  }
  // The summary of reasoning comes first.
  for (const name of lists.reverse()) yield* partEvents(json, itemsOf(json, fieldOf(name)), { name, inItem });
  yield { type: 'response.output_item.done', texts: { ...at, item: json.slice(item) } };
}

/** By the type of a part: its text field, and the events that bring it. */
const partTexts: Readonly<Record<string, { readonly field: string; readonly event: string; readonly more?: Texts }>> = {
  output_text: { field: 'text', event: 'response.output_text', more: { logprobs: '[]' } },
  refusal: { field: 'refusal', event: 'response.refusal' },
  summary_text: { field: 'text', event: 'response.reasoning_summary_text' },
  reasoning_text: { field: 'text', event: 'response.reasoning_text' },
};

interface PartPlace {
  /** Name of the list. */
  readonly name: string;
  readonly inItem: Texts;
}

function* partEvents(json: JsonText, parts: readonly number[], { name, inItem }: PartPlace): Generator<EventDraft> {
  const [index, around] =
    name === 'summary'
      ? ['summary_index', 'response.reasoning_summary_part']
      : ['content_index', 'response.content_part'];
  for (const [place, part] of parts.entries()) {
    const at = { ...inItem, [index]: String(place) };
    if (!json.isObject(part)) continue;
    const type = stringAt(json, findMember(json, 'type', part)) ?? '';
    const known = Object.hasOwn(partTexts, type) ? partTexts[type] : undefined;
    const text = known === undefined ? undefined : findMember(json, known.field, part);
    const annotations = findMember(json, 'annotations', part);
    const begun =
      known === undefined
        ? json.slice(part)
        : withFields(json, part, {
            [known.field]: '""',
            ...(annotations === undefined ? {} : { annotations: '[]' }),
          });
    yield { type: `${around}.added`, texts: { ...at, part: begun } };
    if (known !== undefined && text !== undefined) {
      const { field, event, more = {} } = known;
      yield { type: `${event}.delta`, texts: { ...at, delta: json.slice(text), ...more } };
      for (const [number, annotation] of itemsOf(json, annotations).entries()) {
        const texts = { ...at, annotation_index: String(number), annotation: json.slice(annotation) };
        yield { type: 'response.output_text.annotation.added', texts };
      }
      yield { type: `${event}.done`, texts: { ...at, [field]: json.slice(text), ...more } };
    }
    yield { type: `${around}.done`, texts: { ...at, part: json.slice(part) } };
  }
}

/** Events that bring what the last one may leave out. Deltas say nothing that these do not. */
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
