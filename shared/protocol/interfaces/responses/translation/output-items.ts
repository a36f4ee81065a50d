// Writes the events of the items of a response, and of whole items.

import { type AnswerHead, type Signed, sealed } from '../../../hub/index.ts';
import type { SignedEnvelope } from '../../../wire/index.ts';
import { ownItemId } from '../response-opening.ts';

/** `modelText`: the model's own text in the event. `item`: a whole one, as its last field. */
export type Emit = (
  type: string,
  members: object,
  more?: { readonly modelText?: string; readonly item?: object },
) => void;

export type OutputItems = ReturnType<typeof createOutputItems>;

export function createOutputItems(head: AnswerHead, emit: Emit) {
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
