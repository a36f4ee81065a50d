// The parts of a streamed answer as events of Messages.
import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import { writtenEvent } from '../../../../../protocol/interfaces/messages/index.ts';
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
} from '../../middle/index.ts';
import { createBlocks } from './message-blocks.ts';
import { messageEnd, messageHead, toUsage, wholeUsage } from './message-object.ts';
import { placeless, thinkingBlock } from './write-whole-message.ts';

export function openMessageWriter(head: AnswerHead, names: ToolNames): (part: HubPart) => AnswerEvent[] {
  const { readSigned } = head;
  let events: AnswerEvent[] = [];
  let isBegun = false;
  let outputBytes = 0;
  /** Calls that have begun. */
  const begun = new Set<string>();
  /**
   * Of a text that was sent already: a client takes the last block for what is said, so that it goes out before a call that follows, and
   * nowhere else. Gemini wants back those of calls alone.
   */
  let signedText: Signed = {};

  const blocks = createBlocks(head, (event) => {
    if (!isBegun) events.push(startOf(head));
    isBegun = true;
    events.push(event);
  });

  function addText(part: PartOf<'text-start' | 'text-delta' | 'text-end'>): void {
    const signed = readSigned(part.providerMetadata);
    const [open, phase] = [blocks.open(), phaseOf(part)];
    // Of the thinking before it, whose signature has waited for it.
    if (open?.kind === 'thinking' && phase !== undefined) open.signed = { ...open.signed, phase };
    if (part.type === 'text-delta' && part.delta !== '') {
      if (blocks.open()?.kind !== 'text') blocks.begin('text', part.id, { type: 'text', text: '', citations: null });
      outputBytes += Buffer.byteLength(part.delta);
      signedText = {};
      blocks.add({ type: 'text_delta', text: part.delta });
    }
    if (isSigned(signed)) signedText = signed;
    if (part.type === 'text-end' && blocks.open()?.kind === 'text') blocks.close();
  }

  function addPlaceless({ mediaType }: PartOf<'file'>): void {
    blocks.begin('text', '', { type: 'text', text: '', citations: null });
    blocks.add({ type: 'text_delta', text: placeless(mediaType) });
    blocks.close();
  }

  function addReasoning(part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): void {
    const isOpen = blocks.open()?.kind === 'thinking' && blocks.open()?.id === part.id;
    if (!isOpen && part.type === 'reasoning-end') return;
    if (!isOpen) blocks.begin('thinking', part.id, thinkingBlock('', ''));
    const open = blocks.open();
    if (open !== undefined) open.signed = { ...open.signed, ...readSigned(part.providerMetadata) };
    if (part.type === 'reasoning-delta' && part.delta !== '') {
      outputBytes += Buffer.byteLength(part.delta);
      blocks.add({ type: 'thinking_delta', thinking: part.delta });
    }
  }

  function beginCall(part: PartOf<'tool-input-start'> | PartOf<'tool-call'>, id: string): void {
    const signed = readSigned(part.providerMetadata);
    const clientId = clientCallId(head.id, id);
    if (isSigned(signedText)) blocks.addSignature(signedText, 'text_before');
    signedText = {};
    if (isSigned(signed)) blocks.addSignature(signed, { call: clientId });
    begun.add(id);
    const name = names.long(part.toolName);
    outputBytes += Buffer.byteLength(name);
    blocks.begin('tool_use', id, { type: 'tool_use', id: clientId, name, input: {}, caller: { type: 'direct' } });
  }

  function addArguments(id: string, delta: string): void {
    const open = blocks.open();
    if (delta === '' || open?.id !== id) return;
    open.hasArguments = true;
    outputBytes += Buffer.byteLength(delta);
    blocks.addInput(open.input.add(delta));
  }

  function addCall(part: PartOf<'tool-call'>): void {
    const { toolCallId: id } = part;
    if (!begun.has(id)) beginCall(part, id);
    const open = blocks.open();
    if (open?.kind !== 'tool_use' || open.id !== id) return;
    if (!open.hasArguments) addArguments(id, part.input);
    blocks.close();
  }

  function finish(part: PartOf<'finish'>): void {
    blocks.close();
    const tokens = tokensOf(part.usage);
    const usage = toUsage(tokens, { inputTokens: head.estimatedInputTokens, outputBytes });
    const { cache_creation: _periods, ...counts } = usage;
    const delta = { ...messageEnd(part.finishReason, begun.size, part.providerMetadata), container: null };
    if (!isBegun) events.push(startOf(head));
    events.push(
      writtenEvent(
        { type: 'message_delta', delta, usage: { ...counts, server_tool_use: null } },
        tokens && { tokens, members: { ...usage } },
      ),
      writtenEvent({ type: 'message_stop' }),
    );
  }

  function write(part: HubPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        addText(part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        addReasoning(part);
        break;
      case 'file':
        addPlaceless(part);
        break;
      case 'tool-input-start':
        if (part.providerExecuted !== true) beginCall(part, part.id);
        break;
      case 'tool-input-delta':
        addArguments(part.id, part.delta);
        break;
      case 'tool-call':
        if (part.providerExecuted !== true) addCall(part);
        break;
      case 'finish':
        finish(part);
    }
  }

  return (part) => {
    events = [];
    write(part);
    return events;
  };
}

/** Its usage is an estimate, and no report: a stream that breaks is billed by what was relayed. */
function startOf(head: AnswerHead): AnswerEvent {
  const estimated = toUsage(undefined, { inputTokens: head.estimatedInputTokens, outputBytes: 0 });
  const usage = { ...wholeUsage(estimated), output_tokens: 1 };
  const rest = { content: [], stop_reason: null, stop_sequence: null, stop_details: null, usage };
  const message = { ...messageHead(head), ...rest, container: null, diagnostics: null };
  return writtenEvent({ type: 'message_start', message });
}
