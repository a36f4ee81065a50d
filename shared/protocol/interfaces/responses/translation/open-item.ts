// The open item of a response, one at a time: its pieces and its end, by its kind.

import type { Signed } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject, parseInnerJson } from '../../../wire/index.ts';
import type { ClientTool } from './client-tools.ts';
import type { FreeformReader } from './freeform-input.ts';
import type { OutputItems } from './output-items.ts';
import { ownTools } from './own-tools.ts';

interface OpenText {
  readonly kind: 'message' | 'reasoning';
  readonly id: string;
  key: string;
  text: string;
  signed: Signed;
}

export interface OpenCall {
  readonly kind: 'call';
  readonly id: string;
  readonly packageId: string;
  readonly callId: string;
  readonly tool: ClientTool;
  readonly freeform: FreeformReader | undefined;
  /** Text for the client. */
  text: string;
  written: number;
}

export type OpenItem = ReturnType<typeof createOpenItem>;

export function createOpenItem(items: OutputItems) {
  let open: OpenText | OpenCall | undefined;

  function close(status = 'completed'): void {
    if (open === undefined) return;
    const closing = open;
    open = undefined;
    if (closing.kind === 'call') closeCall(items, closing, status);
    else if (closing.kind === 'message') closeMessage(items, closing, status);
    else closeReasoning(items, closing);
  }

  /** `item`: absent where the client gets it only when it is whole. */
  function begin<One extends OpenText | OpenCall>(one: One, item?: object): One {
    open = one;
    if (item !== undefined) items.begin(item);
    return one;
  }

  return {
    close,
    begin,
    text: (kind: OpenText['kind']) => (open?.kind === kind ? open : undefined),
    call: (packageId: string) => (open?.kind === 'call' && open.packageId === packageId ? open : undefined),
  };
}

export function addInput({ emit, ofItem }: OutputItems, call: OpenCall, delta: string): void {
  if (delta === '') return;
  call.text += delta;
  if (isOwn(call.tool)) return;
  const kind = call.tool.kind === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments';
  emit(`response.${kind}.delta`, { ...ofItem(call.id), delta }, { modelText: delta });
}

function closeMessage({ emit, end, ofItem }: OutputItems, { id, text }: OpenText, status: string): void {
  const part = textPart(text);
  const at = { ...ofItem(id), content_index: 0 };
  emit('response.output_text.done', { ...at, text, logprobs: [] });
  emit('response.content_part.done', { ...at, part });
  end({ id, type: 'message', status, role: 'assistant', content: [part] });
}

function closeReasoning({ emit, end, ofItem, seal }: OutputItems, { id, text, signed }: OpenText): void {
  const part = { type: 'summary_text', text };
  if (text !== '') {
    const at = { ...ofItem(id), summary_index: 0 };
    emit('response.reasoning_summary_text.done', { ...at, text });
    emit('response.reasoning_summary_part.done', { ...at, part });
  }
  end({ id, type: 'reasoning', summary: text === '' ? [] : [part], encrypted_content: seal(signed) });
}

function closeCall(items: OutputItems, call: OpenCall, status: string): void {
  const { id, tool, freeform } = call;
  if (freeform !== undefined) addInput(items, call, freeform.end());
  else if (tool.kind === 'function' && call.text.trim() === '') addInput(items, call, '{}');
  const { text } = call;
  const at = items.ofItem(id);
  if (tool.kind === 'custom') items.emit('response.custom_tool_call_input.done', { ...at, input: text });
  if (tool.kind === 'function') {
    items.emit('response.function_call_arguments.done', { ...at, name: tool.name, arguments: text });
  }
  // A call of OpenAI's own tools is known when it is whole.
  if (isOwn(tool)) items.begin(callItem(call, 'in_progress'));
  items.end(callItem(call, status));
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
  return { ...head, type: `${tool.kind}_call`, ...ownTools[tool.kind].toMembers(inputOf(text)) };
}

function inputOf(text: string): JsonObject {
  const inner = parseInnerJson(text);
  const input = inner === undefined ? text : inner.value;
  return isJsonObject(input) ? input : { input };
}
