// Writes the parts of an answer as events of Responses. A client gets the events, or the response that is assembled
// from them.
import {
  type AnswerHead,
  clientCallId,
  type HubPart,
  isSigned,
  type PartOf,
  type SignedThinking,
  sealSigned,
  tokensOf,
} from '../../../hub/index.ts';
import {
  isJsonObject,
  type JsonObject,
  parseInnerJson,
  type SignedEnvelope,
  type TokenReport,
} from '../../../wire/index.ts';
import {
  type EmitResponseEvent,
  type InputCall,
  openResponseWriter,
  type PartPlace,
  type ResponseWriter,
} from '../event-writer.ts';
import { ownItemId } from '../response-opening.ts';
import type { ClientTool } from './client-tools.ts';
import { type FreeformReader, freeformReader } from './freeform-input.ts';
import { ownTools } from './own-tools.ts';
import { imageOf } from './response-items.ts';
import { type ResponseContext, type ResponseEnd, responseEnd } from './response-object.ts';

export interface ResponseSink {
  readonly emit: EmitResponseEvent;
  /**
   * Ends the response. `tokens` are the numbers that the provider reported. `model` is the provider's name for the
   * model.
   */
  readonly end: (end: ResponseEnd, tokens: TokenReport | undefined, model: string) => void;
}

export function openResponseEvents(writing: ResponseContext, { emit, end }: ResponseSink): (part: HubPart) => void {
  const { head } = writing;
  const items = createOutputItems(head, openResponseWriter(emit));
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

// Writes tool calls of an answer as items, in pieces or whole.
function openCallItems({ head, tools }: ResponseContext, items: OutputItems, open: OpenItem) {
  /** Calls that have started, and are not complete. */
  const startedCalls = new Set<string>();

  function begin({ toolName, providerMetadata }: PartOf<'tool-input-start' | 'tool-call'>, packageId: string): void {
    const signed = head.readSigned(providerMetadata);
    const signedText = open.text('message')?.signed ?? {};
    startedCalls.add(packageId);
    open.close();
    // The signature of a sent text is written only before a call that follows, because clients interpret the last item
    // as the answer.
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
      if (!startedCalls.has(id)) begin(part, id);
      startedCalls.delete(id);
      const call = open.call(id);
      if (call === undefined) return;
      if (call.written === 0) addArguments(id, part.input);
      open.close();
    },
  };
}

// Writes text and thinking of an answer as items.
function openContentItems({ readSigned }: AnswerHead, items: OutputItems, open: OpenItem) {
  const { newId, writer } = items;
  /** Signature of a text that has not started yet, because the signature precedes the text. */
  let signedNext: SignedThinking = {};
  /** The signature that was written, because a package repeats it with every piece of a text. */
  let written: SignedThinking = {};

  function beginMessage(key: string) {
    open.close();
    const id = newId('msg');
    const item = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    const openedItem = open.begin({ kind: 'message', id, key, text: '', signed: {} }, item);
    writer.beginPart(firstPart(id, 'content'), textPart(''));
    return openedItem;
  }

  function addDelta({ id: key, delta }: PartOf<'text-delta'>, signed: SignedThinking): void {
    const isNext = open.text('message')?.key !== key;
    if (isNext && isSigned(signed)) {
      open.close();
      items.addSignature(signed, 'text');
    }
    if (isNext) written = signed;
    const message = open.text('message') ?? beginMessage(key);
    message.key = key;
    message.text += delta;
    writer.addText(firstPart(message.id, 'content'), 'output_text', delta);
  }

  return {
    addText(part: PartOf<'text-start' | 'text-delta' | 'text-end'>): void {
      const signed = readSigned(part.providerMetadata);
      const before = open.text('message');
      // Successive texts are merged, except signed texts.
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
      const at = firstPart(thinking.id, 'summary');
      if (thinking.text === '') writer.beginPart(at, { type: 'summary_text', text: '' });
      thinking.text += part.delta;
      writer.addText(at, 'summary_text', part.delta);
    },
  };
}

// Writes the open item of a response, one item at a time, with its pieces and its end, depending on its kind.

interface OpenText {
  readonly kind: 'message' | 'reasoning';
  readonly id: string;
  key: string;
  text: string;
  signed: SignedThinking;
}

interface OpenCall {
  readonly kind: 'call';
  readonly id: string;
  readonly packageId: string;
  readonly callId: string;
  readonly tool: ClientTool;
  readonly freeform: FreeformReader | undefined;
  /** Text that the client got. */
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

  /** Begins an item. `item` is absent if the client gets it only when it is complete. */
  function begin<One extends OpenText | OpenCall>(one: One, item?: object): One {
    open = one;
    if (item !== undefined) items.writer.beginItem(item);
    return one;
  }

  return {
    close,
    begin,
    text: (kind: OpenText['kind']) => (open?.kind === kind ? open : undefined),
    call: (packageId: string) => (open?.kind === 'call' && open.packageId === packageId ? open : undefined),
  };
}

function addInput({ writer }: OutputItems, call: OpenCall, delta: string): void {
  if (delta === '') return;
  call.text += delta;
  const type = inputCallOf(call.tool);
  if (type !== undefined) writer.addInput(type, call.id, delta);
}

/** Undefined for a call of OpenAI's own tools, which is known only when it is whole. */
function inputCallOf({ kind }: ClientTool): InputCall | undefined {
  if (kind === 'function') return 'function_call';
  return kind === 'custom' ? 'custom_tool_call' : undefined;
}

function closeMessage({ writer }: OutputItems, { id, text }: OpenText, status: string): void {
  const part = textPart(text);
  const at = firstPart(id, 'content');
  writer.endText(at, 'output_text', text);
  writer.endPart(at, part);
  writer.endItem({ id, type: 'message', status, role: 'assistant', content: [part] });
}

function closeReasoning({ writer, seal }: OutputItems, { id, text, signed }: OpenText): void {
  const part = { type: 'summary_text', text };
  if (text !== '') {
    const at = firstPart(id, 'summary');
    writer.endText(at, 'summary_text', text);
    writer.endPart(at, part);
  }
  writer.endItem({ id, type: 'reasoning', summary: text === '' ? [] : [part], encrypted_content: seal(signed) });
}

function closeCall(items: OutputItems, call: OpenCall, status: string): void {
  const { id, tool, freeform } = call;
  if (freeform !== undefined) addInput(items, call, freeform.end());
  else if (tool.kind === 'function' && call.text.trim() === '') addInput(items, call, '{}');
  const { writer } = items;
  const type = inputCallOf(tool);
  if (type === undefined) writer.beginItem(callItem(call, 'in_progress'));
  else writer.endInput(type, id, { name: tool.name, text: call.text });
  writer.endItem(callItem(call, status));
}

const isOwn = (tool: ClientTool): tool is ClientTool & { readonly kind: keyof typeof ownTools } =>
  tool.kind !== 'function' && tool.kind !== 'custom';

const firstPart = (item: string, list: PartPlace['list']): PartPlace => ({ item, list, index: 0 });

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function callItem({ id, callId, tool, text }: OpenCall, status: string): object {
  const { name, namespace } = tool;
  const head = { id, type: 'function_call', status, call_id: callId };
  const nameFields = namespace === undefined ? { name } : { name, namespace };
  if (tool.kind === 'function') return { ...head, ...nameFields, arguments: text };
  if (tool.kind === 'custom') return { ...head, type: 'custom_tool_call', ...nameFields, input: text };
  return { ...head, type: `${tool.kind}_call`, ...ownTools[tool.kind].toMembers(inputOf(text)) };
}

function inputOf(text: string): JsonObject {
  const inner = parseInnerJson(text);
  const input = inner === undefined ? text : inner.value;
  return isJsonObject(input) ? input : { input };
}

// Ids of the items of a response, and items that come whole.

type OutputItems = ReturnType<typeof createOutputItems>;

function createOutputItems(head: AnswerHead, writer: ResponseWriter) {
  const newId = (prefix: string) => ownItemId(prefix, head.id, writer.place());

  /** Adds the signature of a text or a call, as a separate item. */
  function addSignature(signed: SignedThinking, of: NonNullable<SignedEnvelope['of']>): void {
    const item = { id: newId('rs'), type: 'reasoning', summary: [], encrypted_content: sealSigned(head, signed, of) };
    writer.beginItem(item);
    writer.endItem(item);
  }

  function addImage(base64: string): void {
    const item = { id: newId('ig'), type: 'image_generation_call', status: 'in_progress', result: null };
    writer.beginItem(item);
    writer.endItem({ ...item, status: 'completed', result: base64 });
  }

  function addRefusal(refusal: string): void {
    const message = { id: newId('msg'), type: 'message', role: 'assistant' };
    const at = firstPart(message.id, 'content');
    writer.beginItem({ ...message, status: 'in_progress', content: [] });
    writer.beginPart(at, { type: 'refusal', refusal: '' });
    writer.addText(at, 'refusal', refusal);
    writer.endText(at, 'refusal', refusal);
    writer.endPart(at, { type: 'refusal', refusal });
    writer.endItem({ ...message, status: 'completed', content: [{ type: 'refusal', refusal }] });
  }

  const seal = (signed: SignedThinking) => sealSigned(head, signed);
  return { writer, newId, addSignature, addImage, addRefusal, seal };
}
