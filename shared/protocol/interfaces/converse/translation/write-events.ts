// Writes the parts of an answer as events of Converse: a client gets the events, or the answer that they make.
import { once } from '../../../../foundation/cache/index.ts';
import {
  type AnswerHead,
  clientCallId,
  type HubPart,
  isSigned,
  type PartOf,
  phaseOf,
  type Signed,
  type ToolNames,
  tokensOf,
} from '../../../hub/index.ts';
import type { UsageReport } from '../../../wire/index.ts';
import { type ConverseBlocks, createConverseBlocks } from './answer-blocks.ts';
import { endOf, toUsage } from './answer-end.ts';

export interface UsedByAnswer {
  /** Undefined when the provider reported nothing. */
  readonly report: UsageReport | undefined;
  readonly outputBytes: number;
}

type EmitConverse = (name: string, event: Readonly<Record<string, unknown>>, used?: UsedByAnswer) => void;

interface ConverseWriting {
  readonly names: ToolNames;
  /** Of the fields that the client wants of its model. */
  readonly paths: unknown;
}

export function openConverseEvents(
  head: AnswerHead,
  { names, paths }: ConverseWriting,
  emit: EmitConverse,
): (part: HubPart) => void {
  const start = once(() => emit('messageStart', { role: 'assistant' }));
  const blocks = createConverseBlocks(head, (name, event) => {
    start();
    emit(name, event);
  });
  const texts = openSaid(head, blocks);
  const calls = openCalls(head, names, blocks, texts.addSignatureBeforeCall);

  function finish({ usage, finishReason, providerMetadata }: PartOf<'finish'>): void {
    blocks.close();
    start();
    emit('messageStop', { ...endOf(finishReason, calls.count(), providerMetadata, paths) });
    const tokens = tokensOf(usage);
    const outputBytes = blocks.outputBytes();
    const members = toUsage(tokens, head, outputBytes);
    const report = tokens && { tokens, members: { ...members } };
    emit('metadata', { usage: members, metrics: { latencyMs: head.elapsedMs() } }, { report, outputBytes });
  }

  return (part) => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return texts.addText(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return texts.addReasoning(part);
      case 'file':
        return texts.addPlaceless(part);
      case 'tool-input-start':
        return part.providerExecuted === true ? undefined : calls.begin(part, part.id);
      case 'tool-input-delta':
        return calls.addInput(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted === true ? undefined : calls.end(part);
      case 'finish':
        return finish(part);
    }
  };
}

/** Texts and thinking. */
function openSaid({ readSigned }: AnswerHead, blocks: ConverseBlocks) {
  /** Signature of a text that has not begun yet: it precedes the text. */
  let signedNext: Signed = {};
  /** Signature of a text that was written already: sent only before a call that follows, since a client takes the last block for the answer. */
  let signedText: Signed = {};
  /** A package gives it with every piece of a text. */
  let written: Signed = {};

  function beginText(id: string, signed: Signed): void {
    if (isSigned(signed)) blocks.addSignature(signed, 'text');
    written = signed;
    blocks.begin('text', id);
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
    /** Converse has a place for images of an answer alone, which its clients do not know yet. */
    addPlaceless({ mediaType }: PartOf<'file'>): void {
      blocks.addNote(`[The model answered with a file (${mediaType}), which this interface has no place for.]`);
    },
    addSignatureBeforeCall(): void {
      if (isSigned(signedText)) blocks.addSignature(signedText, 'text_before');
      signedText = {};
    },
  };
}

/** Tool calls: in pieces, or whole. */
function openCalls(head: AnswerHead, names: ToolNames, blocks: ConverseBlocks, addSignatureBeforeCall: () => void) {
  /** Calls that have begun, and are not whole. */
  const begun = new Set<string>();
  let count = 0;

  function begin(part: PartOf<'tool-input-start'> | PartOf<'tool-call'>, id: string): void {
    const signed = head.readSigned(part.providerMetadata);
    const toolUseId = clientCallId(head.id, id);
    addSignatureBeforeCall();
    if (isSigned(signed)) blocks.addSignature(signed, { call: toolUseId });
    begun.add(id);
    count += 1;
    blocks.beginCall(id, { toolUseId, name: names.long(part.toolName) });
  }

  return {
    begin,
    addInput: blocks.addInput,
    end(part: PartOf<'tool-call'>): void {
      const { toolCallId: id } = part;
      if (!begun.has(id)) begin(part, id);
      begun.delete(id);
      const open = blocks.open();
      if (open?.kind !== 'toolUse' || open.id !== id) return;
      if (!open.hasInput) blocks.addInput(id, part.input);
      blocks.close();
    },
    count: () => count,
  };
}
