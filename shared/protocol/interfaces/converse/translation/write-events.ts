// Writes the parts of an answer as events of Converse. A client gets the events, or the answer that is assembled from
// them.

import type { LanguageModelV4FinishReason, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { once } from '../../../../foundation/cache/index.ts';
import {
  type AnswerHead,
  clientCallId,
  createInputWriter,
  estimatedOutputTokens,
  type HubPart,
  type InputWriter,
  isSigned,
  type PartOf,
  phaseOf,
  type SignedThinking,
  sealSigned,
  type ToolNames,
  tokensOf,
} from '../../../hub/index.ts';
import type { SignedEnvelope, TokenReport, UsageReport } from '../../../wire/index.ts';
import { type ConverseWriter, openConverseWriter } from '../event-writer.ts';

export interface UsedByAnswer {
  /** The usage; undefined when the provider reported nothing. */
  readonly report: UsageReport | undefined;
  readonly outputBytes: number;
}

type EmitConverse = (name: string, event: Readonly<Record<string, unknown>>, used?: UsedByAnswer) => void;

interface ConverseWriting {
  readonly names: ToolNames;
  /** Paths of the model's own fields that the client requested. */
  readonly paths: unknown;
}

export function openConverseEvents(
  head: AnswerHead,
  { names, paths }: ConverseWriting,
  emit: EmitConverse,
): (part: HubPart) => void {
  let used: UsedByAnswer | undefined;
  const writer = openConverseWriter((name, event) => {
    if (name !== 'messageStart') start();
    emit(name, event, name === 'metadata' ? used : undefined);
  });
  const start = once(() => writer.start('assistant'));
  const blocks = createConverseBlocks(head, writer);
  const texts = openTexts(head, blocks);
  const calls = openCalls(head, names, blocks, texts.addSignatureBeforeCall);

  function finish({ usage, finishReason, providerMetadata }: PartOf<'finish'>): void {
    blocks.close();
    const tokens = tokensOf(usage);
    const outputBytes = blocks.outputBytes();
    const members = toUsage(tokens, head, outputBytes);
    used = { report: tokens && { tokens, members: { ...members } }, outputBytes };
    const stop = endOf(finishReason, calls.count(), providerMetadata, paths);
    writer.end(stop, { usage: members, metrics: { latencyMs: head.elapsedMs() } });
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

/** Writes text and thinking. */
function openTexts({ readSigned }: AnswerHead, blocks: ConverseBlocks) {
  /** Signature of a text that has not started yet, because the signature precedes the text. */
  let signedNext: SignedThinking = {};
  /**
   * Signature of a text that was written already. The signature is sent only before a following call, because a client
   * interprets the last block as the answer.
   */
  let signedText: SignedThinking = {};
  /** The signature that was written, because a package repeats it with every piece of a text. */
  let written: SignedThinking = {};

  function beginText(id: string, signed: SignedThinking): void {
    if (isSigned(signed)) blocks.addSignature(signed, 'text');
    written = signed;
    blocks.begin('text', id);
  }

  return {
    addText(part: PartOf<'text-start' | 'text-delta' | 'text-end'>): void {
      const signed = readSigned(part.providerMetadata);
      const [open, phase] = [blocks.open(), phaseOf(part)];
      // This part ends the thinking before it, whose signature has waited for the phase.
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
    /**
     * Adds a note in place of a file, because Converse can express only images of an answer, which its clients do not
     * know yet.
     */
    addPlaceless({ mediaType }: PartOf<'file'>): void {
      blocks.addNote(`[The model answered with a file (${mediaType}), which this interface has no place for.]`);
    },
    addSignatureBeforeCall(): void {
      if (isSigned(signedText)) blocks.addSignature(signedText, 'text_before');
      signedText = {};
    },
  };
}

/** Writes tool calls, in pieces or whole. */
function openCalls(head: AnswerHead, names: ToolNames, blocks: ConverseBlocks, addSignatureBeforeCall: () => void) {
  /** Calls that have started, and are not complete. */
  const startedBlocks = new Set<string>();
  let count = 0;

  function begin(part: PartOf<'tool-input-start'> | PartOf<'tool-call'>, id: string): void {
    const signed = head.readSigned(part.providerMetadata);
    const toolUseId = clientCallId(head.id, id);
    addSignatureBeforeCall();
    if (isSigned(signed)) blocks.addSignature(signed, { call: toolUseId });
    startedBlocks.add(id);
    count += 1;
    blocks.beginCall(id, { toolUseId, name: names.long(part.toolName) });
  }

  return {
    begin,
    addInput: blocks.addInput,
    end(part: PartOf<'tool-call'>): void {
      const { toolCallId: id } = part;
      if (!startedBlocks.has(id)) begin(part, id);
      startedBlocks.delete(id);
      const open = blocks.open();
      if (open?.kind !== 'toolUse' || open.id !== id) return;
      if (!open.hasInput) blocks.addInput(id, part.input);
      blocks.close();
    },
    count: () => count,
  };
}

// The stop reason of an answer of Converse, and its usage.

interface ConverseEnd {
  readonly stopReason: string;
  readonly additionalModelResponseFields?: object;
}

/**
 * Returns the end. `calls` is the number of tool calls that the client has to run; clients branch on the reason, so it
 * always agrees with the calls. `paths` are the requested paths of the model's own fields.
 */
function endOf(
  { unified, raw }: LanguageModelV4FinishReason,
  calls: number,
  metadata: SharedV4ProviderMetadata | undefined,
  paths: unknown,
): ConverseEnd {
  // The metadata may come from any package.
  const sequence = Object.values(metadata ?? {}).find(
    ({ stopSequence }) => typeof stopSequence === 'string',
  )?.stopSequence;
  if (unified === 'length') return { stopReason: 'max_tokens' };
  if (unified === 'content-filter') return { stopReason: 'content_filtered' };
  if (calls > 0) return { stopReason: 'tool_use' };
  if (raw === 'model_context_window_exceeded') return { stopReason: raw };
  if (typeof sequence !== 'string') return { stopReason: raw === 'stop_sequence' ? raw : 'end_turn' };
  const asks = (path: string) => Array.isArray(paths) && paths.includes(path);
  const fields = {
    ...(asks('/stop_sequence') ? { stop_sequence: sequence } : {}),
    ...(asks('/delta/stop_sequence') ? { delta: { stop_sequence: sequence } } : {}),
  };
  const more = Object.keys(fields).length === 0 ? {} : { additionalModelResponseFields: fields };
  return { stopReason: 'stop_sequence', ...more };
}

/** Returns the usage; its input excludes cached and written tokens. Clients need a number for every count. */
function toUsage(
  tokens: TokenReport | undefined,
  { estimatedInputTokens }: Pick<AnswerHead, 'estimatedInputTokens'>,
  outputBytes: number,
) {
  const { cached = 0, cacheWrite = 0, cacheWrite1h: hour = 0 } = tokens ?? {};
  const { input = Math.max(1, estimatedInputTokens()), output = estimatedOutputTokens(outputBytes) } = tokens ?? {};
  const details = [
    { ttl: '5m', inputTokens: cacheWrite - hour },
    { ttl: '1h', inputTokens: hour },
  ].filter(({ inputTokens }) => inputTokens > 0);
  return {
    inputTokens: Math.max(0, input - cached - cacheWrite),
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: cacheWrite,
    ...(details.length === 0 ? {} : { cacheDetails: details }),
  };
}

// The blocks of an answer.

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'toolUse';
  /** The package's id of the block. */
  readonly id: string;
  hasInput: boolean;
  /** Input of a tool call, which is an object. */
  readonly input: InputWriter;
  /** Signature of the thinking, or of the part next to it. */
  signed: SignedThinking;
  readonly of?: SignedEnvelope['of'];
}

type ConverseBlocks = ReturnType<typeof createConverseBlocks>;

function createConverseBlocks(head: AnswerHead, writer: ConverseWriter) {
  let open: OpenBlock | undefined;
  let outputBytes = 0;

  function addInputText(input: string): void {
    if (input !== '') writer.addInput(input);
  }

  function add(text: string, write: (text: string) => void): void {
    if (text === '') return;
    outputBytes += Buffer.byteLength(text);
    write(text);
  }

  function keepOpen(kind: OpenBlock['kind'], id: string, signature?: Pick<OpenBlock, 'signed' | 'of'>): void {
    open = { kind, id, hasInput: false, input: createInputWriter(), signed: {}, ...signature };
  }

  function begin(kind: OpenBlock['kind'], id: string, signature?: Pick<OpenBlock, 'signed' | 'of'>): void {
    close();
    keepOpen(kind, id, signature);
    writer.begin();
  }

  function close(): void {
    if (open === undefined) return;
    const { kind, input, signed, of } = open;
    open = undefined;
    if (kind === 'toolUse') addInputText(input.end());
    if (kind === 'thinking') writer.addSignature(sealSigned(head, signed, of));
    writer.close();
  }

  return {
    open: () => open,
    outputBytes: () => outputBytes,
    close,
    begin,
    addText: (text: string) => add(text, writer.addText),
    addThinking: (text: string) => add(text, writer.addThinking),
    /** Starts thinking, so that a client knows that the model thinks, even if the text of the thinking is hidden. */
    beginThinking(id: string, signature?: Pick<OpenBlock, 'signed' | 'of'>) {
      begin('thinking', id, signature);
      writer.addThinking('');
    },
    beginCall(id: string, toolUse: { readonly toolUseId: string; readonly name: string }) {
      close();
      keepOpen('toolUse', id);
      outputBytes += Buffer.byteLength(toolUse.name);
      writer.beginCall(toolUse);
    },
    /** Adds to the open call, because the other calls have ended. */
    addInput(id: string, input: string) {
      if (input === '' || open?.kind !== 'toolUse' || open.id !== id) return;
      open.hasInput = true;
      outputBytes += Buffer.byteLength(input);
      addInputText(open.input.add(input));
    },
    /** Adds a text that the gateway wrote itself. */
    addNote(text: string) {
      begin('text', '');
      writer.addText(text);
      close();
    },
    /** Adds the signature of a text or a call, as a separate block. */
    addSignature(signed: SignedThinking, of: SignedEnvelope['of']) {
      begin('thinking', '', { signed, of });
      writer.addThinking('');
      close();
    },
  };
}
