// Space for the bodies of a call: a number of bytes, as far as memory is free at once. No call waits for it.
import type { Copies } from '../../../shared/protocol/memory-budget/index.ts';

interface ContentSpace {
  /** As much of a text, from its beginning, as fits. */
  take(text: string): string;
  bytes(): number;
  isCut(): boolean;
}

/** The text, and the document that repeats it. */
const copiesOfText = 2;

export function openSpace(copies: Copies, maxBytes: number): ContentSpace {
  let bytes = 0;
  let leftBytes = maxBytes;
  let isCut = false;
  return {
    take(text) {
      const beginning = beginningOf(text, leftBytes);
      const bytesInUse = Buffer.byteLength(beginning);
      isCut ||= beginning.length < text.length;
      if (beginning === '') return '';
      // Characters beyond ASCII take two bytes each, and their neighbours too.
      const textBytes = bytesInUse === beginning.length ? bytesInUse : 2 * bytesInUse;
      if (!copies.take(copiesOfText * textBytes)) {
        [isCut, leftBytes] = [true, 0];
        return '';
      }
      bytes += bytesInUse;
      // Nothing follows a cut.
      leftBytes = isCut ? 0 : leftBytes - bytesInUse;
      return beginning;
    },
    bytes: () => bytes,
    isCut: () => isCut,
  };
}

/** Never half a character. */
export function beginningOf(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const beginning = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes);
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(beginning, { stream: true });
}
