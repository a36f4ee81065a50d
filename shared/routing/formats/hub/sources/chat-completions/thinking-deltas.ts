// Thinking of a streamed answer, and what was signed of it, as deltas of `reasoning_details`.
import { type AnswerHead, type PartOf, phaseOf, sealed } from '../../middle/index.ts';

export type Delta = Readonly<Record<string, unknown>>;

export interface ThinkingDeltas {
  readonly ofThinking: (part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>) => Delta[];
  /** A signature that belongs to a text or a call is a detail of its own. */
  readonly ofSigned: (block: string, part: Pick<PartOf<'text-start'>, 'providerMetadata'>, callId?: string) => Delta[];
}

/** For one stream. */
export function openThinkingDeltas(head: AnswerHead): ThinkingDeltas {
  const { origin: format, readSigned } = head;
  /** By what they are about: the index of each detail. */
  const details = new Map<string, number>();
  /** Signatures that were written: a package gives the same one with every piece of a part. */
  const signatures = new Set<string>();
  /** Of thinking: the detail that was written last. */
  let last: Delta | undefined;

  /** Its first piece says the format: some clients add up every text that comes again. */
  function detail(key: string, members: Delta): Delta {
    const index = details.get(key) ?? details.size;
    const begun = details.has(key) ? {} : { format };
    details.set(key, index);
    return { reasoning_details: [{ ...members, ...begun, index }] };
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
        const piece = { type: 'reasoning.text', text, ...(signed ? { signature: sealed(head, { signature }) } : {}) };
        deltas.push({ ...(text === '' ? {} : { reasoning: text }), ...detail(block, piece) });
        last = { type: 'reasoning.text', text: '', index: details.get(block) };
      }
      if (encrypted !== undefined && isNew(block, encrypted)) {
        const key = `encrypted of ${block}`;
        deltas.push(detail(key, { type: 'reasoning.encrypted', data: sealed(head, { encrypted }) }));
        last = { type: 'reasoning.encrypted', data: '', index: details.get(key) };
      }
      return deltas;
    },
    ofSigned(block, { providerMetadata }, callId) {
      const { signature } = readSigned(providerMetadata);
      const phase = phaseOf({ providerMetadata });
      const called = last !== undefined && phase !== undefined ? [{ reasoning_details: [{ ...last, phase }] }] : [];
      // Of one text.
      last = undefined;
      if (signature === undefined || !isNew(block, signature)) return called;
      const of = callId === undefined ? {} : { id: callId };
      const data = sealed(head, { signature }, callId === undefined ? 'text' : { call: callId });
      return [...called, detail(`of ${block}`, { type: 'reasoning.encrypted', data, ...of })];
    },
  };
}
