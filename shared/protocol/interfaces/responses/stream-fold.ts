// Assembles a response from its events. The last event repeats everything, except at hosts that leave the output to the
// events before it, and in a stream that was cut off.
import { type EventFold, emptyObject, type FoldedObject, isObject } from '../../event-folds/index.ts';

const ends = /^response\.(completed|incomplete|failed)$/;
/** Names of text fields, by the field in the delta that extends them. */
const textFields: Readonly<Record<string, string>> = {
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};
const partTypes: Readonly<Record<string, { readonly list: string; readonly type: string; readonly field: string }>> = {
  'response.output_text.delta': { list: 'content', type: 'output_text', field: 'text' },
  'response.refusal.delta': { list: 'content', type: 'refusal', field: 'refusal' },
  'response.reasoning_text.delta': { list: 'content', type: 'reasoning_text', field: 'text' },
  'response.reasoning_summary_text.delta': { list: 'summary', type: 'summary_text', field: 'text' },
};

export function openResponseFold(): EventFold {
  let response = emptyObject();
  const items = new Map<number, FoldedObject>();

  function itemAt(index: unknown): FoldedObject {
    const place = typeof index === 'number' ? index : items.size;
    const item = items.get(place) ?? emptyObject();
    items.set(place, item);
    return item;
  }

  function addDelta(type: string, { output_index: index, delta, ...place }: FoldedObject): void {
    if (typeof delta !== 'string') return;
    const field = textFields[type];
    if (field !== undefined) extend(itemAt(index), field, delta);
    const part = partTypes[type];
    if (part === undefined) return;
    const at = place[part.list === 'summary' ? 'summary_index' : 'content_index'];
    extend(partAt(itemAt(index), part, typeof at === 'number' ? at : 0), part.field, delta);
  }

  return {
    add(event) {
      const { type, item, output_index: index } = event;
      const word = typeof type === 'string' ? type : '';
      if (isObject(event.response) && (word === 'response.created' || ends.test(word))) response = event.response;
      else if (word === 'response.output_item.added' && isObject(item)) Object.assign(itemAt(index), item);
      else if (word === 'response.output_item.done' && isObject(item)) {
        items.set(typeof index === 'number' ? index : items.size, item);
      } else addDelta(word, event);
    },
    answer() {
      const { output } = response;
      const isWhole = Array.isArray(output) && (output.length > 0 || items.size === 0);
      return isWhole ? response : { ...response, output: [...items].sort(([a], [b]) => a - b).map(([, item]) => item) };
    },
  };
}

function extend(object: FoldedObject, field: string, piece: string): void {
  object[field] = (typeof object[field] === 'string' ? object[field] : '') + piece;
}

function partAt(
  item: FoldedObject,
  { list, type }: { readonly list: string; readonly type: string },
  at: number,
): FoldedObject {
  const known: unknown[] = Array.isArray(item[list]) ? item[list] : [];
  item[list] = known;
  while (known.length <= at && known.length < partsMax) known.push({ type });
  const part = known[at];
  return isObject(part) ? part : emptyObject();
}

/** Maximum number of parts of one item. A higher index is invalid. */
const partsMax = 1_024;
