// Writes the parts of an answer as events of Messages. A client gets the events, or the message that is assembled from
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
  mediaMembers,
  type PartOf,
  phaseOf,
  type SignedThinking,
  sealSigned,
  type ToolNames,
  tokensOf,
} from '../../../hub/index.ts';
import type { SignedEnvelope, TokenReport, UsageReport } from '../../../wire/index.ts';
import { type MessageEvent, openMessageWriter } from '../event-writer.ts';

/** Usage for the event with the stop reason. */
export interface EndUsage {
  /** Undefined when the provider reported nothing. */
  readonly report: UsageReport | undefined;
  readonly outputBytes: number;
}

export type EmitEvent = (event: MessageEvent, used?: EndUsage) => void;

export function openMessageEvents(head: AnswerHead, names: ToolNames, emit: EmitEvent): (part: HubPart) => void {
  let used: EndUsage | undefined;
  const writer = openMessageWriter((event) => {
    if (event.type !== 'message_start') start();
    emit(event, event.type === 'message_delta' ? used : undefined);
  });
  const start = once(() => writer.start(messageStart(head)));
  const blocks = createBlocks(head, writer);
  const content = openContentBlocks(head, blocks);
  const tools = openToolBlocks(head, names, blocks, content);

  function finish({ usage: reported, finishReason, providerMetadata }: PartOf<'finish'>): void {
    blocks.close();
    const tokens = tokensOf(reported);
    const outputBytes = blocks.outputBytes();
    const usage = toUsage(tokens, { inputTokens: head.estimatedInputTokens, outputBytes });
    const { cache_creation: _periods, ...counts } = usage;
    const delta = { ...messageEnd(finishReason, tools.calls(), providerMetadata), container: null };
    used = { report: tokens && { tokens, members: { ...usage } }, outputBytes };
    writer.end(delta, { usage: { ...counts, server_tool_use: null } });
  }

  return (part) => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return content.addText(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return content.addReasoning(part);
      case 'file':
        return content.addPlaceless(part);
      case 'tool-input-start':
        return part.providerExecuted === true ? undefined : tools.begin(part, part.id);
      case 'tool-input-delta':
        return tools.addArguments(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted === true ? undefined : tools.end(part);
      case 'finish':
        return finish(part);
    }
  };
}

// Writes tool calls of an answer as blocks, in pieces or whole.
function openToolBlocks(head: AnswerHead, names: ToolNames, blocks: Blocks, content: ContentBlocks) {
  /** Calls that have started, and are not complete. */
  const startedBlocks = new Set<string>();
  let calls = 0;

  function begin(part: PartOf<'tool-input-start'> | PartOf<'tool-call'>, id: string): void {
    const signed = head.readSigned(part.providerMetadata);
    const clientId = clientCallId(head.id, id);
    content.addSignatureBeforeCall();
    if (isSigned(signed)) blocks.addSignature(signed, { call: clientId });
    startedBlocks.add(id);
    calls += 1;
    const name = names.long(part.toolName);
    blocks.begin(id, { type: 'tool_use', id: clientId, name, input: {}, caller: { type: 'direct' } });
  }

  return {
    begin,
    addArguments: blocks.addArguments,
    end(part: PartOf<'tool-call'>): void {
      const { toolCallId: id } = part;
      if (!startedBlocks.has(id)) begin(part, id);
      startedBlocks.delete(id);
      const open = blocks.open();
      if (open?.kind !== 'tool_use' || open.id !== id) return;
      if (!open.hasArguments) blocks.addArguments(id, part.input);
      blocks.close();
    },
    calls: () => calls,
  };
}

// Writes text and thinking of an answer as blocks.

type ContentBlocks = ReturnType<typeof openContentBlocks>;

function openContentBlocks({ readSigned }: AnswerHead, blocks: Blocks) {
  /** Signature of a text that has not started yet, because the signature precedes the text. */
  let signedNext: SignedThinking = {};
  /**
   * Signature of a text that was written already. It is sent only before a tool call that follows, because a client
   * interprets the last block as the answer, and Gemini requires only signatures of calls again.
   */
  let signedText: SignedThinking = {};
  /** The signature that was written, because a package repeats it with every piece of a text. */
  let written: SignedThinking = {};

  function beginText(id: string, signed: SignedThinking): void {
    if (isSigned(signed)) blocks.addSignature(signed, 'text');
    written = signed;
    blocks.beginText(id);
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
    /** Adds a note in place of a file, which the interface cannot express. */
    addPlaceless({ mediaType }: PartOf<'file'>): void {
      blocks.addNote(`[The model answered with a file (${mediaType}), which this interface has no place for.]`);
    },
    addSignatureBeforeCall(): void {
      if (isSigned(signedText)) blocks.addSignature(signedText, 'text_before');
      signedText = {};
    },
  };
}

// The blocks of a message.

type MessageBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: object;
      readonly caller: { readonly type: 'direct' };
    };

interface OpenBlock {
  readonly kind: MessageBlock['type'];
  /** The package's id of the block. */
  readonly id: string;
  hasArguments: boolean;
  /** Input of a tool call. */
  readonly input: InputWriter;
  /** Signature of the thinking, or of the part next to it. */
  signed: SignedThinking;
  readonly of?: SignedEnvelope['of'];
}

type Blocks = ReturnType<typeof createBlocks>;

function createBlocks(head: AnswerHead, writer: ReturnType<typeof openMessageWriter>) {
  let open: OpenBlock | undefined;
  let outputBytes = 0;

  function add(text: string, write: (text: string) => void): void {
    if (text === '') return;
    outputBytes += Buffer.byteLength(text);
    write(text);
  }

  function begin(id: string, block: MessageBlock, extras?: Pick<OpenBlock, 'signed' | 'of'>): void {
    close();
    open = { kind: block.type, id, hasArguments: false, input: createInputWriter(), signed: {}, ...extras };
    if (block.type === 'tool_use') outputBytes += Buffer.byteLength(block.name);
    writer.begin(block);
  }

  function addInput(input: string): void {
    if (input !== '') writer.addInput(input);
  }

  function close(): void {
    if (open === undefined) return;
    const { kind, input, signed, of } = open;
    open = undefined;
    if (kind === 'thinking') writer.addSignature(sealSigned(head, signed, of));
    if (kind === 'tool_use') addInput(input.end());
    writer.close();
  }

  const beginText = (id: string) => begin(id, { type: 'text', text: '', citations: null });
  const beginThinking = (id: string, extras?: Pick<OpenBlock, 'signed' | 'of'>) =>
    begin(id, { type: 'thinking', thinking: '', signature: '' }, extras);
  const addText = (text: string) => add(text, writer.addText);
  const addThinking = (thinking: string) => add(thinking, writer.addThinking);

  /** Adds to the open call, because the other calls have ended. */
  function addArguments(id: string, delta: string): void {
    if (delta === '' || open?.kind !== 'tool_use' || open.id !== id) return;
    open.hasArguments = true;
    outputBytes += Buffer.byteLength(delta);
    addInput(open.input.add(delta));
  }

  /** Adds a text that the gateway wrote itself. */
  function addNote(text: string): void {
    beginText('');
    writer.addText(text);
    close();
  }

  /** Adds the signature of a text or a call, as a separate block. */
  function addSignature(signed: SignedThinking, of: SignedEnvelope['of']): void {
    beginThinking('', { signed, of });
    close();
  }

  return {
    open: () => open,
    outputBytes: () => outputBytes,
    begin,
    beginText,
    beginThinking,
    addText,
    addThinking,
    addArguments,
    addNote,
    addSignature,
    close,
  };
}

// Metadata, stop reason and usage of a message.

/**
 * The message at its start. Its usage is an estimate, not a report, because a broken stream is billed by its relayed
 * output.
 */
const messageStart = ({ id, clientModel, estimatedInputTokens }: AnswerHead) => ({
  id: `msg_${id.replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: clientModel,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  usage: { ...wholeUsage(toUsage(undefined, { inputTokens: estimatedInputTokens, outputBytes: 0 })), output_tokens: 1 },
  container: null,
  diagnostics: null,
});

interface MessageEnd {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: object | null;
}

/**
 * `calls` are the tool calls that the client must run. Clients branch on the reason, so the reason and the calls always
 * agree.
 */
function messageEnd(
  { unified, raw }: LanguageModelV4FinishReason,
  calls: number,
  metadata: SharedV4ProviderMetadata | undefined,
): MessageEnd {
  // Every package may report it.
  const sequence = Object.values(metadata ?? {}).find(
    ({ stopSequence: stop }) => typeof stop === 'string',
  )?.stopSequence;
  const ended = (stop_reason: string): MessageEnd => ({ stop_reason, stop_sequence: null, stop_details: null });
  if (unified === 'length') return ended('max_tokens');
  if (unified === 'content-filter') {
    return { ...ended('refusal'), stop_details: { type: 'refusal', category: null, explanation: null } };
  }
  if (calls > 0) return ended('tool_use');
  if (raw === 'pause_turn' || raw === 'model_context_window_exceeded') return ended(raw);
  if (typeof sequence === 'string') return { ...ended('stop_sequence'), stop_sequence: sequence };
  if (raw === 'stop_sequence') return ended(raw);
  return ended('end_turn');
}

interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  /** Absent without audio and images, because the interface has no field for their tokens. */
  readonly input_tokens_details?: object;
  /** Null when nothing is known of written tokens. */
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  } | null;
}

/** The gateway's own counts, in place of counts that the provider does not report. */
interface Estimates {
  readonly inputTokens: () => number;
  readonly outputBytes: number;
}

/** The input excludes cached and cache-written tokens. Clients need a number for every count. */
function toUsage(tokens: TokenReport | undefined, estimates: Estimates): MessageUsage {
  const { cached = 0, cacheWrite = 0, cacheWrite1h: hour = 0, reasoning = 0, media = {} } = tokens ?? {};
  const { input = Math.max(1, estimates.inputTokens()), output = estimatedOutputTokens(estimates.outputBytes) } =
    tokens ?? {};
  const details = mediaMembers(media.audioInput, media.imageInput);
  return {
    input_tokens: Math.max(0, input - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning, ...mediaMembers(media.audioOutput, media.imageOutput) },
    ...(Object.keys(details).length === 0 ? {} : { input_tokens_details: details }),
    cache_creation:
      tokens === undefined ? null : { ephemeral_5m_input_tokens: cacheWrite - hour, ephemeral_1h_input_tokens: hour },
  };
}

/** Adds the fields that clients expect next to the counts. */
const wholeUsage = (usage: MessageUsage) => ({
  ...usage,
  inference_geo: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
});
