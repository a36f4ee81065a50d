// The items of a response, made from the pieces of an answer in their order: whole for JSON, with every event on the way for a
// stream, so that both say the same. One item is open at a time.
import { clientCallId, isSigned, type Signed } from '../../middle/index.ts';
import { freeformReader } from './freeform-input.ts';
import { callItem, createClosers, createItemEvents, type Emit, isOwn, type Open, textPart } from './output-items.ts';
import { ownTools } from './own-tools.ts';
import type { Writing } from './response-object.ts';

export interface OutputBuilder {
  readonly addText: (key: string, delta: string, signed: Signed) => void;
  /** Of the text that comes next, where it is known by then. */
  readonly addTextSignature: (signed: Signed) => void;
  readonly addReasoning: (key: string, delta: string, signed: Signed) => void;
  readonly endReasoning: (key: string) => void;
  readonly beginCall: (id: string, toolName: string, signed: Signed) => void;
  readonly addArguments: (id: string, delta: string) => void;
  /** `input`: the whole arguments, where no piece of them came. */
  readonly endCall: (id: string, input?: string) => void;
  readonly addImage: (base64: string) => void;
  /** `refusal`: why the model refused, where it says so. */
  readonly finish: (isCut: boolean, refusal?: string) => void;
  /** Those that are whole. */
  readonly items: readonly object[];
}

export function createOutput({ head, tools }: Writing, emit: Emit): OutputBuilder {
  const events = createItemEvents(head, emit);
  const { items, newId, ofItem, begin, addSignature } = events;
  const { addInput, closeMessage, closeReasoning, closeCall } = createClosers(events, emit);
  let open: Open | undefined;

  function close(status = 'completed'): void {
    if (open === undefined) return;
    const closing = open;
    open = undefined;
    if (closing.kind === 'message') closeMessage(closing, status);
    else if (closing.kind === 'reasoning') closeReasoning(closing);
    else closeCall(closing, status);
  }

  function addArguments(packageId: string, delta: string): void {
    if (open?.kind !== 'call' || open.packageId !== packageId) return;
    open.written += delta.length;
    addInput(open, open.freeform === undefined ? delta : open.freeform.add(delta));
  }

  return {
    items,
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
      }
    },
    addTextSignature(signed) {
      close();
      addSignature(signed, 'text');
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
      const signedText = open?.kind === 'message' ? open.signed : {};
      close();
      // Clients take the last item for what is said: of a text that was sent already it goes out before a call that follows alone.
      if (isSigned(signedText)) addSignature(signedText, 'text_before');
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
      events.addImage(base64);
    },
    finish(isCut, refusal) {
      close(isCut ? 'incomplete' : 'completed');
      if (refusal !== undefined) events.addRefusal(refusal);
    },
  };
}
