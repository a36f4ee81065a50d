// The parts of a streamed answer as `chat.completion.chunk`s.
import { writtenChunk } from '../../../../../protocol/interfaces/chat-completions/index.ts';
import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import type { AnswerHead, HubPart } from '../../middle/index.ts';
import { toFinishReason } from './chat-finish-reason.ts';
import { toUsage } from './chat-usage.ts';
import { isRefusal, toImage, toToolCall } from './write-completion.ts';

type Delta = Readonly<Record<string, unknown>>;
type Part<Type extends HubPart['type']> = Extract<HubPart, { type: Type }>;

export function openChunkWriter(head: AnswerHead): (part: HubPart) => AnswerEvent[] {
  const { origin: format, readSigned } = head;
  let { id, model } = head;
  let isBegun = false;
  /** By the package's ids: the place of each among its like. */
  const calls = new Map<string, number>();
  /** Of those, the ones whose arguments have begun. */
  const written = new Set<string>();
  const thoughts = new Map<string, number>();
  /** Signatures that were written: a package gives the same one with every piece of a part. */
  const signatures = new Set<string>();

  const chunk = (members: object, beginsThinking = false) =>
    writtenChunk(
      { id, object: 'chat.completion.chunk', created: head.createdSeconds, model, ...members },
      beginsThinking,
    );
  const choice = (delta: Delta, reason: string | null = null, beginsThinking = false) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] }, beginsThinking);
  const place = (places: Map<string, number>, key: string): number => {
    const known = places.get(key) ?? places.size;
    places.set(key, known);
    return known;
  };
  /** Its first piece says the format: some clients add up every text that comes again. */
  const detail = (key: string, members: Delta): Delta => ({
    ...members,
    ...(thoughts.has(key) ? {} : { format }),
    index: place(thoughts, key),
  });

  function reasoning({
    id: block,
    providerMetadata,
    ...part
  }: Part<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>): Delta[] {
    const { signature, encrypted } = readSigned(providerMetadata);
    const text = part.type === 'reasoning-delta' ? part.delta : '';
    const isShown = text !== '' || thoughts.has(block);
    const signed = signature !== undefined && (isShown || encrypted === undefined) && isNew(block, signature);
    const deltas: Delta[] = [];
    if (text !== '' || signed) {
      const shown = text === '' ? {} : { reasoning: text };
      const piece = { type: 'reasoning.text', text, ...(signed ? { signature } : {}) };
      deltas.push({ ...shown, reasoning_details: [detail(block, piece)] });
    }
    if (encrypted !== undefined && isNew(block, encrypted)) {
      const piece = { type: 'reasoning.encrypted', data: encrypted };
      deltas.push({ reasoning_details: [detail(`encrypted of ${block}`, piece)] });
    }
    return deltas;
  }

  /** A signature that belongs to a text or a call is a detail of its own. */
  function signatureDelta(block: string, part: Pick<Part<'text-start'>, 'providerMetadata'>, callId?: string): Delta[] {
    const { signature } = readSigned(part.providerMetadata);
    if (signature === undefined || !isNew(block, signature)) return [];
    const of = callId === undefined ? {} : { id: callId };
    return [{ reasoning_details: [detail(`of ${block}`, { type: 'reasoning.encrypted', data: signature, ...of })] }];
  }

  const isNew = (block: string, signature: string): boolean => {
    const before = signatures.size;
    return signatures.add(`${block} ${signature}`).size > before;
  };

  function toolStart(part: Part<'tool-input-start'>): Delta[] {
    if (part.providerExecuted === true) return [];
    const { id: callId, toolName, providerMetadata } = part;
    const whole = { type: 'tool-call', toolCallId: callId, toolName, input: ' ' } as const;
    const call = toToolCall({ ...whole, ...(providerMetadata && { providerMetadata }) }, head);
    const begun = { index: place(calls, callId), ...call, function: { name: toolName, arguments: '' } };
    return [{ tool_calls: [begun] }, ...signatureDelta(callId, part, callId)];
  }

  function toolDelta({ id: callId, delta }: Part<'tool-input-delta'>): Delta[] {
    const index = calls.get(callId);
    if (index === undefined || delta === '') return [];
    written.add(callId);
    return [{ tool_calls: [{ index, function: { arguments: delta } }] }];
  }

  /** The whole call: of one whose arguments came in pieces everything is known but a signature. */
  function toolCall(part: Part<'tool-call'>): Delta[] {
    if (part.providerExecuted === true) return [];
    const signed = signatureDelta(part.toolCallId, part, part.toolCallId);
    const index = calls.get(part.toolCallId);
    if (index !== undefined) {
      if (written.has(part.toolCallId)) return signed;
      // A call without arguments: clients read them as JSON.
      return [
        { tool_calls: [{ index, function: { arguments: toToolCall(part, head).function.arguments } }] },
        ...signed,
      ];
    }
    return [{ tool_calls: [{ index: place(calls, part.toolCallId), ...toToolCall(part, head) }] }, ...signed];
  }

  function finish(part: Part<'finish'>): AnswerEvent[] {
    const usage = toUsage(part.usage);
    const reason = toFinishReason(part.finishReason, calls.size);
    const refusal = reason === 'content_filter' ? head.refusalOf(part.providerMetadata) : undefined;
    const said = refusal === undefined ? [] : [choice({ refusal })];
    return [...said, choice({}, reason), ...(usage === undefined ? [] : [chunk({ choices: [], usage })])];
  }

  function deltasOf(part: HubPart): Delta[] {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        return signatureDelta(part.id, part);
      case 'text-delta':
        return [
          ...(part.delta === '' ? [] : [isRefusal(part) ? { refusal: part.delta } : { content: part.delta }]),
          ...signatureDelta(part.id, part),
        ];
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return reasoning(part);
      case 'tool-input-start':
        return toolStart(part);
      case 'tool-input-delta':
        return toolDelta(part);
      case 'tool-call':
        return toolCall(part);
      case 'file': {
        const images = toImage(part, head);
        return images.length === 0 ? [] : [{ images }];
      }
      default:
        return [];
    }
  }

  return (part) => {
    if (part.type === 'response-metadata') {
      id = part.id ?? id;
      model = part.modelId ?? model;
      return [];
    }
    const chunks = part.type === 'finish' ? finish(part) : deltasOf(part).map((delta) => choice(delta));
    // A model may think for long before it shows any of it.
    const beginsThinking = part.type === 'reasoning-start' && chunks.length === 0;
    if (isBegun || (chunks.length === 0 && !beginsThinking)) return chunks;
    isBegun = true;
    return [choice({ role: 'assistant', content: '' }, null, beginsThinking), ...chunks];
  };
}
