// The items of a response, made from the pieces of an answer in their order: whole for JSON, with every event on the way for a
// stream, so that both say the same. One item is open at a time.
import { ownItemId } from '../../../../../protocol/interfaces/responses/index.ts';
import {
  isJsonObject,
  parseJson,
  type SignedEnvelope,
  scanJson,
  sealEnvelope,
} from '../../../../../protocol/wire/index.ts';
import { clientCallId, type Signed } from '../../middle/index.ts';
import type { ClientTool } from './client-tools.ts';
import { type FreeformReader, freeformReader } from './freeform-input.ts';
import { ownTools } from './own-tools.ts';
import type { Writing } from './response-object.ts';

/** `spoken`: what the event brings of the model's own text. `item`: the text of a whole item, as its last member. */
export type Emit = (type: string, members: object, more?: { readonly spoken?: string; readonly item?: string }) => void;

export interface OutputBuilder {
  readonly addText: (key: string, delta: string, signed: Signed) => void;
  readonly addReasoning: (key: string, delta: string, signed: Signed) => void;
  readonly endReasoning: (key: string) => void;
  readonly beginCall: (id: string, toolName: string, signed: Signed) => void;
  readonly addArguments: (id: string, delta: string) => void;
  /** `input`: the whole arguments, where no piece of them came. */
  readonly endCall: (id: string, input?: string) => void;
  readonly addImage: (base64: string) => void;
  /** `refusal`: why the model refused, where it says so. */
  readonly finish: (isCut: boolean, refusal?: string) => void;
  /** The package's id of the call that is open. */
  readonly openCall: () => string | undefined;
  /** The texts of the items that are whole. */
  readonly items: readonly string[];
}

type Open =
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

export function createOutput({ head, tools }: Writing, emit: Emit): OutputBuilder {
  const items: string[] = [];
  let open: Open | undefined;

  const place = () => ({ output_index: items.length });
  const newId = (prefix: string) => ownItemId(prefix, head.id, items.length);
  const ofItem = (id: string) => ({ item_id: id, ...place() });
  const begin = (item: object) => emit('response.output_item.added', { ...place(), item });

  function end(item: object): void {
    const text = JSON.stringify(item);
    emit('response.output_item.done', place(), { item: text });
    items.push(text);
  }

  const sealed = ({ signature, encrypted }: Signed, of?: SignedEnvelope['of']): string =>
    sealEnvelope({
      origin: head.origin,
      model: head.model,
      ...(signature === undefined ? {} : { signature }),
      ...(encrypted === undefined ? {} : { encrypted }),
      ...(of === undefined ? {} : { of }),
    });

  /** Of a text or a call: an item of its own. */
  function addSignature(signed: Signed, of: NonNullable<SignedEnvelope['of']>): void {
    const item = { id: newId('rs'), type: 'reasoning', summary: [], encrypted_content: sealed(signed, of) };
    begin(item);
    end(item);
  }

  function close(status = 'completed'): void {
    if (open === undefined) return;
    const closing = open;
    open = undefined;
    if (closing.kind === 'message') closeMessage(closing, status);
    else if (closing.kind === 'reasoning') closeReasoning(closing);
    else closeCall(closing, status);
  }

  function closeMessage({ id, text, signed }: Extract<Open, { kind: 'message' }>, status: string): void {
    const part = textPart(text);
    const at = { ...ofItem(id), content_index: 0 };
    emit('response.output_text.done', { ...at, text, logprobs: [] });
    emit('response.content_part.done', { ...at, part });
    end({ id, type: 'message', status, role: 'assistant', content: [part] });
    if (isSigned(signed)) addSignature(signed, 'text');
  }

  function closeReasoning({ id, text, signed }: Extract<Open, { kind: 'reasoning' }>): void {
    const part = { type: 'summary_text', text };
    if (text !== '') {
      const at = { ...ofItem(id), summary_index: 0 };
      emit('response.reasoning_summary_text.done', { ...at, text });
      emit('response.reasoning_summary_part.done', { ...at, part });
    }
    // Of thinking that is not signed too: no other model may get it, and a relay knows that it is none of its provider's.
    end({ id, type: 'reasoning', summary: text === '' ? [] : [part], encrypted_content: sealed(signed) });
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

  function addInput(call: OpenCall, delta: string): void {
    if (delta === '') return;
    call.text += delta;
    if (isOwn(call.tool)) return;
    const kind = call.tool.kind === 'custom' ? 'custom_tool_call_input' : 'function_call_arguments';
    emit(`response.${kind}.delta`, { ...ofItem(call.id), delta }, { spoken: delta });
  }

  function addArguments(packageId: string, delta: string): void {
    if (open?.kind !== 'call' || open.packageId !== packageId) return;
    open.written += delta.length;
    addInput(open, open.freeform === undefined ? delta : open.freeform.add(delta));
  }

  return {
    items,
    openCall: () => (open?.kind === 'call' ? open.packageId : undefined),
    addText(key, delta, signed) {
      const isNext = open?.kind === 'message' && open.key !== key;
      // Texts that follow each other are one, but for those that are signed.
      if (isNext && open?.kind === 'message' && isSigned(open.signed)) close();
      if (delta !== '' && open?.kind !== 'message') {
        close();
        open = { kind: 'message', id: newId('msg'), key, text: '', signed: {} };
        begin({ id: open.id, type: 'message', status: 'in_progress', role: 'assistant', content: [] });
        emit('response.content_part.added', { ...ofItem(open.id), content_index: 0, part: textPart('') });
      }
      if (open?.kind === 'message') {
        open.key = key;
        open.signed = { ...open.signed, ...signed };
        if (delta === '') return;
        open.text += delta;
        const at = { ...ofItem(open.id), content_index: 0 };
        emit('response.output_text.delta', { ...at, delta, logprobs: [] }, { spoken: delta });
      } else if (isSigned(signed)) {
        close();
        addSignature(signed, 'text');
      }
    },
    addReasoning(key, delta, signed) {
      if (open?.kind !== 'reasoning' || open.key !== key) {
        close();
        open = { kind: 'reasoning', id: newId('rs'), key, text: '', signed: {} };
        begin({ id: open.id, type: 'reasoning', summary: [] });
      }
      open.signed = { ...open.signed, ...signed };
      if (delta === '') return;
      const at = { ...ofItem(open.id), summary_index: 0 };
      if (open.text === '') {
        emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
      }
      open.text += delta;
      emit('response.reasoning_summary_text.delta', { ...at, delta }, { spoken: delta });
    },
    endReasoning(key) {
      if (open?.kind === 'reasoning' && open.key === key) close();
    },
    beginCall(packageId, toolName, signed) {
      close();
      const callId = clientCallId(head.id, packageId);
      if (isSigned(signed)) addSignature(signed, { call: callId });
      const tool = tools.find(toolName);
      const id = newId(isOwn(tool) ? ownTools[tool.kind].idPrefix : tool.kind === 'custom' ? 'ctc' : 'fc');
      const freeform = tool.kind === 'custom' ? freeformReader() : undefined;
      open = { kind: 'call', id, packageId, callId, tool, freeform, text: '', written: 0 };
      if (!isOwn(tool)) begin(callItem(open, 'in_progress'));
    },
    addArguments,
    endCall(packageId, input = '') {
      if (open?.kind !== 'call' || open.packageId !== packageId) return;
      if (open.written === 0) addArguments(packageId, input);
      close();
    },
    addImage(base64) {
      close();
      const item = { id: newId('ig'), type: 'image_generation_call', status: 'in_progress', result: null };
      begin(item);
      end({ ...item, status: 'completed', result: base64 });
    },
    finish(isCut, refusal) {
      close(isCut ? 'incomplete' : 'completed');
      if (refusal === undefined) return;
      const head_ = { id: newId('msg'), type: 'message', role: 'assistant' };
      const at = { ...ofItem(head_.id), content_index: 0 };
      begin({ ...head_, status: 'in_progress', content: [] });
      emit('response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } });
      emit('response.refusal.delta', { ...at, delta: refusal }, { spoken: refusal });
      emit('response.refusal.done', { ...at, refusal });
      emit('response.content_part.done', { ...at, part: { type: 'refusal', refusal } });
      end({ ...head_, status: 'completed', content: [{ type: 'refusal', refusal }] });
    },
  };
}

const isSigned = (signed: Signed): boolean => Object.keys(signed).length > 0;

const isOwn = (tool: ClientTool): tool is ClientTool & { readonly kind: keyof typeof ownTools } =>
  tool.kind !== 'function' && tool.kind !== 'custom';

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function callItem({ id, callId, tool, text }: OpenCall, status: string): object {
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

const inputDepthMax = 64;

function inputOf(text: string): Readonly<Record<string, unknown>> {
  const scanned = scanJson(text, { depthMax: inputDepthMax });
  const input: unknown = scanned.kind === 'json' ? parseJson(text) : text;
  return isJsonObject(input) ? input : { input };
}
