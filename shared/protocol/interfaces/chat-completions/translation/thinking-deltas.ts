// Thinking of a streamed answer, with its signatures, as deltas of `reasoning_details`.
import { type AnswerHead, type PartOf, phaseOf, sealed } from '../../../hub/index.ts';
import type { Delta, DetailDelta } from './deltas.ts';

export interface ThinkingDeltas {
  readonly ofThinking: (part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>) => Delta[];
  /** A signature that belongs to a text or a call is a detail of its own. */
  readonly ofSigned: (block: string, part: Pick<PartOf<'text-start'>, 'providerMetadata'>, callId?: string) => Delta[];
}

/** Handles one stream. */
export function openThinkingDeltas(head: AnswerHead): ThinkingDeltas {
  const { origin: format, readSigned } = head;
  /** The index of each detail, by its subject. */
  const details = new Map<string, number>();
  /** Signatures that were written: a package gives the same one with every piece of a part. */
  const signatures = new Set<string>();
  /** The detail of thinking that was written last. */
  let last: DetailDelta | undefined;

  /** The first piece states the format: some clients concatenate every repeated text. */
  function detail(key: string, members: Omit<DetailDelta, 'index'>): DetailDelta {
    const index = details.get(key) ?? details.size;
    const begun = details.has(key) ? {} : { format };
    details.set(key, index);
    return { ...members, ...begun, index };
  }

  function isNew(block: string, signature: string): boolean {
    const before = signatures.size;
    return signatures.add(`${block} ${signature}`).size > before;
  }

  return {
    ofThinking({ id: block, providerMetadata, ...part }) {
      const { signature, encrypted } = readSigned(providerMetadata);
      const text = part.type === 'reasoning-delta' ? part.delta : '';
      const isShown = text !== '' || details.has(block);
      const signed = signature !== undefined && (isShown || encrypted === undefined) && isNew(block, signature);
      const deltas: Delta[] = [];
      if (text !== '' || signed) {
        const signing = signed ? { signature: sealed(head, { signature }) } : {};
        const one = detail(block, { type: 'reasoning.text', text, ...signing });
        deltas.push({ ...(text === '' ? {} : { reasoning: text }), reasoning_details: [one] });
        last = { type: one.type, text: '', index: one.index };
      }
      if (encrypted !== undefined && isNew(block, encrypted)) {
        const data = sealed(head, { encrypted });
        const one = detail(`encrypted of ${block}`, { type: 'reasoning.encrypted', data });
        deltas.push({ reasoning_details: [one] });
        last = { type: one.type, data: '', index: one.index };
      }
      return deltas;
    },
    ofSigned(block, { providerMetadata }, callId) {
      if (providerMetadata === undefined) {
        last = undefined;
        return [];
      }
      const { signature } = readSigned(providerMetadata);
      const phase = phaseOf({ providerMetadata });
      const called = last !== undefined && phase !== undefined ? [{ reasoning_details: [{ ...last, phase }] }] : [];
      // End of one text.
      last = undefined;
      if (signature === undefined || !isNew(block, signature)) return called;
      const of = callId === undefined ? {} : { id: callId };
      const data = sealed(head, { signature }, callId === undefined ? 'text' : { call: callId });
      return [...called, { reasoning_details: [detail(`of ${block}`, { type: 'reasoning.encrypted', data, ...of })] }];
    },
  };
}
