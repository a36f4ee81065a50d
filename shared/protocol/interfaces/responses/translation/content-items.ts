// Texts and thinking of an answer as items.
import { type AnswerHead, isSigned, type PartOf, type Signed } from '../../../hub/index.ts';
import { type OpenItem, textPart } from './open-item.ts';
import type { OutputItems } from './output-items.ts';

export function openContentItems({ readSigned }: AnswerHead, items: OutputItems, open: OpenItem) {
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
