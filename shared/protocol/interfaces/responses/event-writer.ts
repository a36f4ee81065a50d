// Writes the events of the items of a response in their sequence, for a translated answer, for a whole answer, and for
// the end of a blocked answer.

/** `modelText` is the model's own text in the event. `item` is a whole item, as the last field of the event. */
interface WrittenBeside {
  readonly modelText?: string;
  readonly item?: unknown;
}

export type EmitResponseEvent = (type: string, fields: object, beside?: WrittenBeside) => void;

/** A part of an item that has texts, which belongs to the item's content, or to the summary of its reasoning. */
export interface PartPlace {
  /** Id of the item. */
  readonly item: unknown;
  readonly list: 'content' | 'summary';
  readonly index: number;
}

/** The text field of a part, and the events that bring it, by the part's type. */
const partTexts = {
  output_text: { field: 'text', event: 'response.output_text', beside: { logprobs: [] } },
  refusal: { field: 'refusal', event: 'response.refusal', beside: {} },
  summary_text: { field: 'text', event: 'response.reasoning_summary_text', beside: {} },
  reasoning_text: { field: 'text', event: 'response.reasoning_text', beside: {} },
} as const;

type TextPart = keyof typeof partTexts;

export const isTextPart = (type: string): type is TextPart => Object.hasOwn(partTexts, type);
/** The field of a part that has its text. */
export const textFieldOf = (type: TextPart): string => partTexts[type].field;

/** The input field of a call, and the events that bring it, by the call's type. */
const callInputs = {
  function_call: { field: 'arguments', event: 'response.function_call_arguments' },
  custom_tool_call: { field: 'input', event: 'response.custom_tool_call_input' },
} as const;

export type InputCall = keyof typeof callInputs;

export const isInputCall = (type: string): type is InputCall => Object.hasOwn(callInputs, type);
/** The field of a call that has its input. */
export const inputFieldOf = (type: InputCall): string => callInputs[type].field;

export type ResponseWriter = ReturnType<typeof openResponseWriter>;

/** `place` is that of the next item. Values may be slices of JSON. */
export function openResponseWriter(emit: EmitResponseEvent, place = 0) {
  const itemFields = (id: unknown) => ({ item_id: id, output_index: place });
  const partFields = ({ item, list, index }: PartPlace) =>
    list === 'summary' ? { ...itemFields(item), summary_index: index } : { ...itemFields(item), content_index: index };
  const around = ({ list }: PartPlace) =>
    list === 'summary' ? 'response.reasoning_summary_part' : 'response.content_part';

  return {
    /** Returns the place of the next item. */
    place: () => place,
    beginItem: (item: unknown) => emit('response.output_item.added', { output_index: place, item }),
    endItem(item: unknown): void {
      emit('response.output_item.done', { output_index: place }, { item });
      place += 1;
    },
    beginPart: (at: PartPlace, part: unknown) => emit(`${around(at)}.added`, { ...partFields(at), part }),
    addText(at: PartPlace, type: TextPart, delta: unknown): void {
      const { event, beside } = partTexts[type];
      emit(`${event}.delta`, { ...partFields(at), delta, ...beside }, modelTextOf(delta));
    },
    addAnnotation: (at: PartPlace, annotation_index: number, annotation: unknown) =>
      emit('response.output_text.annotation.added', { ...partFields(at), annotation_index, annotation }),
    endText(at: PartPlace, type: TextPart, text: unknown): void {
      const { event, field, beside } = partTexts[type];
      emit(`${event}.done`, { ...partFields(at), [field]: text, ...beside });
    },
    endPart: (at: PartPlace, part: unknown) => emit(`${around(at)}.done`, { ...partFields(at), part }),
    addInput: (type: InputCall, id: unknown, delta: unknown) =>
      emit(`${callInputs[type].event}.delta`, { ...itemFields(id), delta }, modelTextOf(delta)),
    /** `name` is that of a function. */
    endInput(type: InputCall, id: unknown, { name, text }: { readonly name?: unknown; readonly text: unknown }): void {
      const { event, field } = callInputs[type];
      const nameField = type === 'function_call' && name !== undefined ? { name } : {};
      emit(`${event}.done`, { ...itemFields(id), ...nameField, [field]: text });
    },
  };
}

const modelTextOf = (delta: unknown): WrittenBeside | undefined =>
  typeof delta === 'string' ? { modelText: delta } : undefined;
