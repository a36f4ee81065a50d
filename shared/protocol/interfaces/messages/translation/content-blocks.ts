// Texts and thinking of an answer as blocks.
import { type AnswerHead, isSigned, type PartOf, phaseOf, type Signed } from '../../../hub/index.ts';
import type { Blocks } from './message-blocks.ts';

export type ContentBlocks = ReturnType<typeof openContentBlocks>;

export function openContentBlocks({ readSigned }: AnswerHead, blocks: Blocks) {
  /** Signature of a text that has not begun yet: it precedes the text. */
  let signedNext: Signed = {};
  /**
   * Signature of a text that was written already. It is sent only before a tool call that follows, because a client
   * takes the last block for the answer, and Gemini wants signatures of calls alone again.
   */
  let signedText: Signed = {};
  /** A package gives it with every piece of a text. */
  let written: Signed = {};

  function beginText(id: string, signed: Signed): void {
    if (isSigned(signed)) blocks.addSignature(signed, 'text');
    written = signed;
    blocks.beginText(id);
  }

  return {
    addText(part: PartOf<'text-start' | 'text-delta' | 'text-end'>): void {
      const signed = readSigned(part.providerMetadata);
      const [open, phase] = [blocks.open(), phaseOf(part)];
      // Ends the thinking before it, whose signature has waited for the phase.
      if (open?.kind === 'thinking' && phase !== undefined) open.signed = { ...open.signed, phase };
      if (part.type === 'text-start') {
        signedNext = signed;
        return;
      }
      if (part.type === 'text-delta' && part.delta !== '') {
        if (open?.kind !== 'text') beginText(part.id, { ...signedNext, ...signed });
        signedNext = {};
        signedText = {};
        blocks.addText(part.delta);
      }
      if (isSigned(signed) && signed.signature !== written.signature) signedText = signed;
      if (part.type === 'text-end' && blocks.open()?.kind === 'text') blocks.close();
    },
    addReasoning(part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): void {
      const isOpen = blocks.open()?.kind === 'thinking' && blocks.open()?.id === part.id;
      if (!isOpen && part.type === 'reasoning-end') return;
      if (!isOpen) blocks.beginThinking(part.id);
      const open = blocks.open();
      if (open !== undefined) open.signed = { ...open.signed, ...readSigned(part.providerMetadata) };
      if (part.type === 'reasoning-delta') blocks.addThinking(part.delta);
    },
    /** The interface has no place for it. */
    addPlaceless({ mediaType }: PartOf<'file'>): void {
      blocks.addNote(`[The model answered with a file (${mediaType}), which this interface has no place for.]`);
    },
    addSignatureBeforeCall(): void {
      if (isSigned(signedText)) blocks.addSignature(signedText, 'text_before');
      signedText = {};
    },
  };
}
