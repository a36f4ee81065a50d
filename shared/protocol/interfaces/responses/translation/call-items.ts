// Tool calls of an answer as items: in pieces, or whole.
import { clientCallId, isSigned, type PartOf } from '../../../hub/index.ts';
import { freeformReader } from './freeform-input.ts';
import { addInput, callItem, isOwn, type OpenCall, type OpenItem } from './open-item.ts';
import type { OutputItems } from './output-items.ts';
import { ownTools } from './own-tools.ts';
import type { Writing } from './response-object.ts';

export function openCallItems({ head, tools }: Writing, items: OutputItems, open: OpenItem) {
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
