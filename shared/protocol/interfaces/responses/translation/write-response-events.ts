// Writes the parts of an answer as events of Responses: a client gets the events, or the response that they make.
import {
  type AnswerHead,
  clientCallId,
  type HubPart,
  isSigned,
  type PartOf,
  type Signed,
  sealed,
  tokensOf,
} from '../../../hub/index.ts';
import {
  isJsonObject,
  type JsonObject,
  parseInnerJson,
  type SignedEnvelope,
  type TokenReport,
} from '../../../wire/index.ts';
import { ownItemId } from '../response-opening.ts';
import type { ClientTool } from './client-tools.ts';
import { type FreeformReader, freeformReader } from './freeform-input.ts';
import { ownTools } from './own-tools.ts';
import { imageOf } from './response-items.ts';
import { type ResponseEnd, responseEnd, type Writing } from './response-object.ts';

export interface ResponseSink {
  readonly emit: Emit;
  /** `tokens`: as the provider reported them. `model`: as it names it. */
  readonly end: (end: ResponseEnd, tokens: TokenReport | undefined, model: string) => void;
}

export function openResponseEvents(writing: Writing, { emit, end }: ResponseSink): (part: HubPart) => void {
  const { head } = writing;
  const items = createOutputItems(head, emit);
  const open = createOpenItem(items);
  const content = openContentItems(head, items, open);
  const calls = openCallItems(writing, items, open);
  let { model } = head;

  function addFile(part: PartOf<'file'>): void {
    const image = imageOf(part);
    if (image === undefined) return;
    open.close();
    items.addImage(image);
  }

  function finish({ finishReason, providerMetadata, usage }: PartOf<'finish'>): void {
    const ended = responseEnd(finishReason);
    open.close(ended.status);
    const refusal = ended.reason && head.refusalOf(providerMetadata);
    if (refusal !== undefined) items.addRefusal(refusal);
    end(ended, tokensOf(usage), model);
  }

  return (part) => {
    switch (part.type) {
      case 'response-metadata':
        model = part.modelId ?? model;
        return;
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return content.addText(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return content.addReasoning(part);
      case 'file':
        return addFile(part);
      case 'tool-input-start':
        return part.providerExecuted === true ? undefined : calls.begin(part, part.id);
      case 'tool-input-delta':
        return calls.addArguments(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted === true ? undefined : calls.end(part);
      case 'finish':
        return finish(part);
    }
  };
}

// Tool calls of an answer as items: in pieces, or whole.
function openCallItems({ head, tools }: Writing, items: OutputItems, open: OpenItem) {
  /** Calls that have begun, and are not whole. */
  const begun = new Set<string>();

  function begin({ toolName, providerMetadata }: PartOf<'tool-input-start' | 'tool-call'>, packageId: string): void {
    const signed = head.readSigned(providerMetadata);
    const signedText = open.text('message')?.signed ?? {};
    begun.add(packageId);
    open.close();
    // The signature of a sent text is written only before a call that follows, because clients take the last item for
    // the answer.
    if (isSigned(signedText)) items.addSignature(signedText, 'text_before');
    const callId = clientCallId(head.id, packageId);
    if (isSigned(signed)) items.addSignature(signed, { call: callId });
    const tool = tools.find(toolName);
    const id = items.newId(isOwn(tool) ? ownTools[tool.kind].idPrefix : tool.kind === 'custom' ? 'ctc' : 'fc');
    const freeform = tool.kind === 'custom' ? freeformReader() : undefined;
    const call: OpenCall = { kind: 'call', id, packageId, callId, tool, freeform, text: '', written: 0 };
    open.begin(call, isOwn(tool) ? undefined : callItem(call, 'in_progress'));
  }

  function addArguments(packageId: string, delta: string): void {
    const call = open.call(packageId);
    if (call === undefined) return;
    call.written += delta.length;
    addInput(items, call, call.freeform === undefined ? delta : call.freeform.add(delta));
  }

  return {
    begin,
    addArguments,
    end(part: PartOf<'tool-call'>): void {
      const { toolCallId: id } = part;
      if (!begun.has(id)) begin(part, id);
      begun.delete(id);
      const call = open.call(id);
      if (call === undefined) return;
      if (call.written === 0) addArguments(id, part.input);
      open.close();
    },
  };
}

// Texts and thinking of an answer as items.
function openContentItems({ readSigned }: AnswerHead, items: OutputItems, open: OpenItem) {
  const { emit, newId, ofItem } = items;
  /** Signature of a text that has not begun yet: it precedes the text. */
  let signedNext: Signed = {};
  /** A package gives it with every piece of a text. */
  let written: Signed = {};

  function beginMessage(key: string) {
    open.close();
    const id = newId('msg');
    const item = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    const begun = open.begin({ kind: 'message', id, key, text: '', signed: {} }, item);
    emit('response.content_part.added', { ...ofItem(id), content_index: 0, part: textPart('') });
    return begun;
  }

  function addDelta({ id: key, delta }: PartOf<'text-delta'>, signed: Signed): void {
    const isNext = open.text('message')?.key !== key;
    if (isNext && isSigned(signed)) {
      open.close();
      items.addSignature(signed, 'text');
    }
    if (isNext) written = signed;
    const message = open.text('message') ?? beginMessage(key);
    message.key = key;
    message.text += delta;
    emit(
      'response.output_text.delta',
      { ...ofItem(message.id), content_index: 0, delta, logprobs: [] },
      { modelText: delta },
    );
  }

  return {
    addText(part: PartOf<'text-start' | 'text-delta' | 'text-end'>): void {
      const signed = readSigned(part.providerMetadata);
      const before = open.text('message');
      // Successive texts are one, except signed ones.
      if (before !== undefined && before.key !== part.id && isSigned(before.signed)) open.close();
      if (part.type === 'text-start') {
        signedNext = signed;
        return;
      }
      if (part.type === 'text-delta' && part.delta !== '') {
        addDelta(part, { ...signedNext, ...signed });
        signedNext = {};
      }
      const message = open.text('message');
      if (message !== undefined && signed.signature !== written.signature) {
        message.signed = { ...message.signed, ...signed };
      }
    },
    addReasoning(part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): void {
      const signed = readSigned(part.providerMetadata);
      let thinking = open.text('reasoning');
      if (thinking?.key !== part.id) {
        if (part.type === 'reasoning-end' && !isSigned(signed)) return;
        open.close();
        const id = newId('rs');
        thinking = open.begin(
          { kind: 'reasoning', id, key: part.id, text: '', signed: {} },
          { id, type: 'reasoning', summary: [] },
        );
      }
      thinking.signed = { ...thinking.signed, ...signed };
      if (part.type === 'reasoning-end') open.close();
      if (part.type !== 'reasoning-delta' || part.delta === '') return;
      const at = { ...ofItem(thinking.id), summary_index: 0 };
      if (thinking.text === '') {
        emit('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } });
      }
      thinking.text += part.delta;
      emit('response.reasoning_summary_text.delta', { ...at, delta: part.delta }, { modelText: part.delta });
    },
  };
}

// The open item of a response, one at a time: its pieces and its end, by its kind.

interface OpenText {
  readonly kind: 'message' | 'reasoning';
  readonly id: string;
  key: string;
  text: string;
  signed: Signed;
}

interface OpenCall {
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

type OpenItem = ReturnType<typeof createOpenItem>;

function createOpenItem(items: OutputItems) {
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

function addInput({ emit, ofItem }: OutputItems, call: OpenCall, delta: string): void {
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

const isOwn = (tool: ClientTool): tool is ClientTool & { readonly kind: keyof typeof ownTools } =>
  tool.kind !== 'function' && tool.kind !== 'custom';

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function callItem({ id, callId, tool, text }: OpenCall, status: string): object {
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

// Writes the events of the items of a response, and of whole items.

/** `modelText`: the model's own text in the event. `item`: a whole one, as its last field. */
type Emit = (type: string, members: object, more?: { readonly modelText?: string; readonly item?: object }) => void;

type OutputItems = ReturnType<typeof createOutputItems>;

function createOutputItems(head: AnswerHead, emit: Emit) {
  let whole = 0;
  const place = () => ({ output_index: whole });
  const newId = (prefix: string) => ownItemId(prefix, head.id, whole);
  const ofItem = (id: string) => ({ item_id: id, ...place() });
  const begin = (item: object) => emit('response.output_item.added', { ...place(), item });

  function end(item: object): void {
    emit('response.output_item.done', place(), { item });
    whole += 1;
  }

  /** The signature of a text or a call is an item of its own. */
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
    emit('response.refusal.delta', { ...at, delta: refusal }, { modelText: refusal });
    emit('response.refusal.done', { ...at, refusal });
    emit('response.content_part.done', { ...at, part: { type: 'refusal', refusal } });
    end({ ...message, status: 'completed', content: [{ type: 'refusal', refusal }] });
  }

  const seal = (signed: Signed) => sealed(head, signed);
  return { emit, newId, ofItem, begin, end, addSignature, addImage, addRefusal, seal };
}
