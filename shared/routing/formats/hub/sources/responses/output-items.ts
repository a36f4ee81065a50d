// One item of a response: how it begins, what its input adds, and how it ends, by its kind.
import { ownItemId } from '../../../../../protocol/interfaces/responses/index.ts';
import {
  isJsonObject,
  type JsonObject,
  parseInnerJson,
  type SignedEnvelope,
} from '../../../../../protocol/wire/index.ts';
import { type Signed, sealed } from '../../middle/index.ts';
import type { ClientTool } from './client-tools.ts';
import type { FreeformReader } from './freeform-input.ts';
import { ownTools } from './own-tools.ts';
import type { Writing } from './response-object.ts';

/** `spoken`: what the event brings of the model's own text. `item`: a whole one, as its last member. */
export type Emit = (type: string, members: object, more?: { readonly spoken?: string; readonly item?: object }) => void;

export type Open =
  | { readonly kind: 'message'; readonly id: string; key: string; text: string; signed: Signed }
  | { readonly kind: 'reasoning'; readonly id: string; readonly key: string; text: string; signed: Signed }
  | OpenCall;

interface OpenCall {
  readonly kind: 'call';
  readonly id: string;
  readonly packageId: string;
  readonly callId: string;
  readonly tool: ClientTool;
  readonly freeform: FreeformReader | undefined;
  /** As the client gets it. */
  text: string;
  written: number;
}

/** Events of whole items: how each begins and ends. */
export function createItemEvents(head: Writing['head'], emit: Emit) {
  const items: object[] = [];
  const place = () => ({ output_index: items.length });
  const newId = (prefix: string) => ownItemId(prefix, head.id, items.length);
  const ofItem = (id: string) => ({ item_id: id, ...place() });
  const begin = (item: object) => emit('response.output_item.added', { ...place(), item });

  function end(item: object): void {
    emit('response.output_item.done', place(), { item });
    items.push(item);
  }

  /** Of a text or a call: an item of its own. */
  function addSignature(signed: Signed, of: NonNullable<SignedEnvelope['of']>): void {
    const item = { id: newId('rs'), type: 'reasoning', summary: [], encrypted_content: sealed(head, signed, of) };
    begin(item);
    end(item);
  }

  function addImage(base64: string): void {
    const item = { id: newId('ig'), type: 'image_generation_call', status: 'in_progress', result: null };
    begin(item);
    end({ ...item, status: 'completed', result: base64 });
  }

  function addRefusal(refusal: string): void {
    const message = { id: newId('msg'), type: 'message', role: 'assistant' };
    const at = { ...ofItem(message.id), content_index: 0 };
    begin({ ...message, status: 'in_progress', content: [] });
    emit('response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } });
    emit('response.refusal.delta', { ...at, delta: refusal }, { spoken: refusal });
    emit('response.refusal.done', { ...at, refusal });
    emit('response.content_part.done', { ...at, part: { type: 'refusal', refusal } });
    end({ ...message, status: 'completed', content: [{ type: 'refusal', refusal }] });
  }

  const seal = (signed: Signed) => sealed(head, signed);
  return { items, newId, ofItem, begin, end, addSignature, addImage, addRefusal, seal };
}

type ItemEvents = ReturnType<typeof createItemEvents>;

/** How the item that is open ends, by its kind. */
export function createClosers({ ofItem, begin, end, seal }: ItemEvents, emit: Emit) {
  function addInput(call: OpenCall, delta: string): void {
    if (delta === '') return;
    call.text += delta;
    if (isOwn(call.tool)) return;
    const kind = call.tool.kind === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments';
    emit(`response.${kind}.delta`, { ...ofItem(call.id), delta }, { spoken: delta });
  }

  function closeMessage({ id, text }: Extract<Open, { kind: 'message' }>, status: string): void {
    const part = textPart(text);
    const at = { ...ofItem(id), content_index: 0 };
    emit('response.output_text.done', { ...at, text, logprobs: [] });
    emit('response.content_part.done', { ...at, part });
    end({ id, type: 'message', status, role: 'assistant', content: [part] });
  }

  function closeReasoning({ id, text, signed }: Extract<Open, { kind: 'reasoning' }>): void {
    const part = { type: 'summary_text', text };
    if (text !== '') {
      const at = { ...ofItem(id), summary_index: 0 };
      emit('response.reasoning_summary_text.done', { ...at, text });
      emit('response.reasoning_summary_part.done', { ...at, part });
    }
    end({ id, type: 'reasoning', summary: text === '' ? [] : [part], encrypted_content: seal(signed) });
  }

  function closeCall(call: OpenCall, status: string): void {
    const { id, tool, freeform } = call;
    if (freeform !== undefined) addInput(call, freeform.end());
    else if (tool.kind === 'function' && call.text.trim() === '') addInput(call, '{}');
    const { text } = call;
    if (tool.kind === 'custom') emit('response.custom_tool_call_input.done', { ...ofItem(id), input: text });
    if (tool.kind === 'function') {
      emit('response.function_call_arguments.done', { ...ofItem(id), name: tool.name, arguments: text });
    }
    // What is OpenAI's own is known when it is whole.
    if (isOwn(tool)) begin(callItem(call, 'in_progress'));
    end(callItem(call, status));
  }

  return { addInput, closeMessage, closeReasoning, closeCall };
}

export const isOwn = (tool: ClientTool): tool is ClientTool & { readonly kind: keyof typeof ownTools } =>
  tool.kind !== 'function' && tool.kind !== 'custom';

export const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

export function callItem({ id, callId, tool, text }: OpenCall, status: string): object {
  const { name, namespace } = tool;
  const head = { id, type: 'function_call', status, call_id: callId };
  const named = namespace === undefined ? { name } : { name, namespace };
  if (tool.kind === 'function') return { ...head, ...named, arguments: text };
  if (tool.kind === 'custom') return { ...head, type: 'custom_tool_call', ...named, input: text };
  return {
    ...head,
    type: `${tool.kind}_call`,
    ...ownTools[tool.kind as keyof typeof ownTools].toMembers(inputOf(text)),
  };
}

function inputOf(text: string): JsonObject {
  const inner = parseInnerJson(text);
  const input = inner === undefined ? text : inner.value;
  return isJsonObject(input) ? input : { input };
}
