// The parts of a streamed answer as events of Messages. One block is open at a time: what comes for another one while a tool call
// is being written waits until that has ended.

import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import { writtenEvent } from '../../../../../protocol/interfaces/messages/index.ts';
import { type AnswerHead, clientCallId, type HubPart, type Signed, type ToolNames } from '../../middle/index.ts';
import { messageEnd, messageHead } from './message-head.ts';
import { estimatedUsage, toUsage, wholeUsage } from './usage-of-message.ts';
import { envelope, inputText, thinkingBlock } from './write-whole-message.ts';

type Part<Type extends HubPart['type']> = Extract<HubPart, { type: Type }>;

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool_use';
  /** The package's. */
  readonly id: string;
  /** Bytes of arguments. */
  written: number;
}

export function openMessageWriter(head: AnswerHead, names: ToolNames): (part: HubPart) => AnswerEvent[] {
  const { readSigned } = head;
  let isBegun = false;
  let index = -1;
  let open: OpenBlock | undefined;
  let signed: Signed = {};
  let calls = 0;
  let outputBytes = 0;
  /** Behind a call that is being written. Bounded as the answer is. */
  let waiting: HubPart[] = [];
  const written = new Set<string>();

  const blockEvent = (type: string, members: object) => writtenEvent({ type, index, ...members });
  const deltaEvent = (delta: object) => blockEvent('content_block_delta', { delta });

  function begin(kind: OpenBlock['kind'], id: string, block: object): AnswerEvent[] {
    const closed = close();
    index += 1;
    open = { kind, id, written: 0 };
    return [...closed, blockEvent('content_block_start', { content_block: block })];
  }

  function close(): AnswerEvent[] {
    if (open === undefined) return [];
    const isThinking = open.kind === 'thinking';
    const last = isThinking ? [deltaEvent({ type: 'signature_delta', signature: envelope(head, signed) })] : [];
    const isEmptyCall = open.kind === 'tool_use' && open.written === 0;
    const empty = isEmptyCall ? [deltaEvent({ type: 'input_json_delta', partial_json: '{}' })] : [];
    open = undefined;
    signed = {};
    return [...last, ...empty, blockEvent('content_block_stop', {})];
  }

  /** A signature that belongs to a text or a call stands in a block of its own. */
  function signatureBlock(of: 'text' | { readonly call: string }, own: Signed): AnswerEvent[] {
    const events = begin('thinking', '', thinkingBlock('', ''));
    const sealed = deltaEvent({ type: 'signature_delta', signature: envelope(head, own, of) });
    open = undefined;
    return [...events, sealed, blockEvent('content_block_stop', {})];
  }

  function text(part: Part<'text-start' | 'text-delta' | 'text-end'>): AnswerEvent[] {
    const own = readSigned(part.providerMetadata);
    const isSigned = Object.keys(own).length > 0;
    const events: AnswerEvent[] = [];
    if (part.type === 'text-delta' && part.delta !== '') {
      if (open?.kind !== 'text') events.push(...begin('text', part.id, { type: 'text', text: '', citations: null }));
      outputBytes += Buffer.byteLength(part.delta);
      events.push(deltaEvent({ type: 'text_delta', text: part.delta }));
    }
    if (isSigned) return [...events, ...close(), ...signatureBlock('text', own)];
    return part.type === 'text-end' && open?.kind === 'text' ? [...events, ...close()] : events;
  }

  function reasoning(part: Part<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): AnswerEvent[] {
    const events: AnswerEvent[] = [];
    if (open?.kind !== 'thinking' || open.id !== part.id) {
      if (part.type === 'reasoning-end') return [];
      events.push(...begin('thinking', part.id, thinkingBlock('', '')));
    }
    signed = { ...signed, ...readSigned(part.providerMetadata) };
    if (part.type === 'reasoning-delta' && part.delta !== '') {
      outputBytes += Buffer.byteLength(part.delta);
      events.push(deltaEvent({ type: 'thinking_delta', thinking: part.delta }));
    }
    return part.type === 'reasoning-end' ? [...events, ...close()] : events;
  }

  function beginCall(part: Part<'tool-input-start'> | Part<'tool-call'>, id: string): AnswerEvent[] {
    const own = readSigned(part.providerMetadata);
    const clientId = clientCallId(head.id, id);
    const before = Object.keys(own).length > 0 ? signatureBlock({ call: clientId }, own) : [];
    calls += 1;
    written.add(id);
    const name = names.long(part.toolName);
    outputBytes += Buffer.byteLength(name);
    const block = { type: 'tool_use', id: clientId, name, input: {}, caller: { type: 'direct' } };
    return [...before, ...begin('tool_use', id, block)];
  }

  function addArguments(delta: string): AnswerEvent[] {
    if (delta === '' || open === undefined) return [];
    open.written += delta.length;
    outputBytes += Buffer.byteLength(delta);
    return [deltaEvent({ type: 'input_json_delta', partial_json: delta })];
  }

  function wholeCall(part: Part<'tool-call'>): AnswerEvent[] {
    const { toolCallId: id } = part;
    if (!written.has(id)) return [...beginCall(part, id), ...addArguments(inputText(part.input)), ...close()];
    if (open?.kind !== 'tool_use' || open.id !== id) return [];
    const missing = open.written === 0 ? addArguments(inputText(part.input)) : [];
    return [...missing, ...close()];
  }

  function finish(part: Part<'finish'>): AnswerEvent[] {
    const reported = toUsage(part.usage);
    const end = messageEnd(part.finishReason, calls, part.providerMetadata);
    const usage = reported ?? estimatedUsage(head.estimatedInputTokens(), outputBytes);
    const { cache_creation: _periods, ...counts } = usage;
    const delta = { ...end, container: null };
    return [
      ...close(),
      writtenEvent({ type: 'message_delta', delta, usage: { ...counts, server_tool_use: null } }, reported),
      writtenEvent({ type: 'message_stop' }),
    ];
  }

  function eventsOf(part: HubPart): AnswerEvent[] {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return text(part);
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return reasoning(part);
      case 'tool-input-start':
        return part.providerExecuted === true ? [] : beginCall(part, part.id);
      case 'tool-input-delta':
        return open?.id === part.id ? addArguments(part.delta) : [];
      case 'tool-call':
        return part.providerExecuted === true ? [] : wholeCall(part);
      case 'finish':
        return finish(part);
      default:
        return [];
    }
  }

  const isOfOpenCall = (part: HubPart): boolean =>
    ('id' in part && part.id === open?.id) || (part.type === 'tool-call' && part.toolCallId === open?.id);

  function route(part: HubPart): AnswerEvent[] {
    if (open?.kind !== 'tool_use' || isOfOpenCall(part)) return eventsOf(part);
    // The answer is over: so is the call, whether or not the package said so.
    if (part.type === 'finish') return [...close(), ...routeAll(), ...route(part)];
    waiting.push(part);
    return [];
  }

  function routeAll(): AnswerEvent[] {
    const parts = waiting;
    waiting = [];
    return parts.flatMap(route);
  }

  function start(): AnswerEvent[] {
    if (isBegun) return [];
    isBegun = true;
    const usage = { ...wholeUsage(estimatedUsage(head.estimatedInputTokens(), 0)), output_tokens: 1 };
    const rest = { content: [], stop_reason: null, stop_sequence: null, stop_details: null, usage };
    const message = { ...messageHead(head), ...rest, container: null, diagnostics: null };
    // An estimate is no report: a stream that breaks is billed by what was relayed.
    return [writtenEvent({ type: 'message_start', message })];
  }

  return (part) => {
    const events = route(part);
    if (open?.kind !== 'tool_use' && waiting.length > 0) events.push(...routeAll());
    return events.length === 0 ? events : [...start(), ...events];
  };
}
