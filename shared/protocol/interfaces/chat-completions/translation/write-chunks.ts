// Writes the parts of an answer as chunks of a chat completion. A client gets the chunks, or the completion that is
// assembled from them.

import type { LanguageModelV4Content, LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import {
  type AnswerHead,
  base64Of,
  type HubPart,
  mediaMembers,
  type PartOf,
  phaseOf,
  sealSigned,
  tokensOf,
} from '../../../hub/index.ts';
import { type ChunkFields, openChunkWriter } from '../chunk-writer.ts';

export interface Chunk extends ChunkFields {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
}

/** A translated answer has one choice. */
const choices = [0];

/** Sends a chunk. `beginsThinking` means that the chunk marks the begin of thinking. */
type EmitChunk = (chunk: Chunk, beginsThinking: boolean) => void;

export function openChunks(head: AnswerHead, emit: EmitChunk): (part: HubPart) => void {
  let { id, model } = head;
  let isBegun = false;
  let hasRefused = false;
  const thinking = openThinkingDeltas(head);
  const calls = openCallDeltas(head, thinking);

  let announcesThinking = false;
  const emitFields = (fields: ChunkFields): void =>
    emit({ id, object: 'chat.completion.chunk', created: head.createdSeconds, model, ...fields }, announcesThinking);
  const writer = openChunkWriter(emitFields, { logprobs: null });
  const add = (delta: Delta): void => writer.add(choices, delta);

  function begin(beginsThinking: boolean): void {
    announcesThinking = beginsThinking;
    if (!isBegun) add({ role: 'assistant', content: '' });
    announcesThinking = false;
    isBegun = true;
  }

  function finish(part: PartOf<'finish'>): void {
    begin(false);
    const usage = toUsage(part.usage);
    const reason = toFinishReason(part.finishReason, calls.count());
    const isExplained = reason === 'content_filter' && !hasRefused;
    const refusal = isExplained ? head.refusalOf(part.providerMetadata) : undefined;
    if (refusal !== undefined) add({ refusal });
    writer.end(choices.map((index) => [index, reason]));
    if (usage !== undefined) writer.usage(usage);
  }

  function outputIn(part: PartOf<'text-delta'>): Delta[] {
    if (part.delta === '') return [];
    hasRefused ||= isRefusal(part);
    return [isRefusal(part) ? { refusal: part.delta } : { content: part.delta }];
  }

  function deltasOf(part: HubPart): Delta[] {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        return thinking.signedDeltas(part.id, part);
      case 'text-delta':
        return outputIn(part).concat(thinking.signedDeltas(part.id, part));
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return thinking.thinkingDeltas(part);
      case 'tool-input-start':
        return calls.startDeltas(part);
      case 'tool-input-delta':
        return calls.pieceDeltas(part);
      case 'tool-call':
        return calls.callDeltas(part);
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
      return;
    }
    if (part.type === 'finish') return finish(part);
    const deltas = deltasOf(part);
    // A model may think for long before its first visible text.
    const beginsThinking = part.type === 'reasoning-start' && deltas.length === 0;
    if (deltas.length > 0 || beginsThinking) begin(beginsThinking);
    for (const delta of deltas) add(delta);
  };
}

// Tool calls of a streamed answer as deltas: their beginning, pieces, or the whole.

interface CallDeltas {
  readonly startDeltas: (part: PartOf<'tool-input-start'>) => Delta[];
  readonly pieceDeltas: (part: PartOf<'tool-input-delta'>) => Delta[];
  /** Returns the deltas of a whole call. If its arguments came in pieces, only its signature is new. */
  readonly callDeltas: (part: PartOf<'tool-call'>) => Delta[];
  /** Returns the number of calls so far. */
  readonly count: () => number;
}

/** Handles the calls of one stream. */
function openCallDeltas(head: AnswerHead, { signedDeltas }: ThinkingDeltas): CallDeltas {
  /** Index of each unfinished call, by the package's id. */
  const places = new Map<string, number>();
  /** Calls whose arguments have started. */
  const written = new Set<string>();
  let count = 0;

  function newPlace(id: string): number {
    const place = count;
    count += 1;
    places.set(id, place);
    return place;
  }

  const signedOf = (place: number, part: PartOf<'tool-input-start' | 'tool-call'>, id: string) =>
    signedDeltas(`call ${place}`, part, id);

  return {
    count: () => count,
    startDeltas(part) {
      if (part.providerExecuted === true) return [];
      const { id, toolName, providerMetadata } = part;
      const whole = { type: 'tool-call', toolCallId: id, toolName, input: ' ' } as const;
      const call = toToolCall({ ...whole, ...(providerMetadata && { providerMetadata }) }, head);
      const index = places.get(id) ?? newPlace(id);
      const callStart = { index, ...call, function: { name: toolName, arguments: '' } };
      return [{ tool_calls: [callStart] }, ...signedOf(index, part, id)];
    },
    pieceDeltas({ id, delta }) {
      const index = places.get(id);
      if (index === undefined || delta === '') return [];
      written.add(id);
      return [{ tool_calls: [{ index, function: { arguments: delta } }] }];
    },
    callDeltas(part) {
      if (part.providerExecuted === true) return [];
      const { toolCallId: id } = part;
      const call = toToolCall(part, head);
      const isBegun = places.has(id);
      const isWritten = written.delete(id);
      const index = places.get(id) ?? newPlace(id);
      // Another call may have the same id.
      places.delete(id);
      const signed = signedOf(index, part, id);
      if (isWritten) return signed;
      // Clients parse the arguments of a call as JSON, even if the call has no arguments.
      const rest = isBegun ? { function: { arguments: call.function.arguments } } : call;
      return [{ tool_calls: [{ index, ...rest }] }, ...signed];
    },
  };
}

// Thinking of a streamed answer, with its signatures, as deltas of `reasoning_details`.

interface ThinkingDeltas {
  readonly thinkingDeltas: (part: PartOf<'reasoning-start' | 'reasoning-delta' | 'reasoning-end'>) => Delta[];
  /** Returns the detail of a signature that belongs to a text or a call. */
  readonly signedDeltas: (
    block: string,
    part: Pick<PartOf<'text-start'>, 'providerMetadata'>,
    callId?: string,
  ) => Delta[];
}

/** Handles the thinking of one stream. */
function openThinkingDeltas(head: AnswerHead): ThinkingDeltas {
  const { origin: format, readSigned } = head;
  /** Index of each detail, by the block or call that it belongs to. */
  const details = new Map<string, number>();
  /** Signatures that were written, because a package repeats the same signature with every piece of a part. */
  const signatures = new Set<string>();
  /** The detail of thinking that was written last. */
  let last: DetailDelta | undefined;

  /** Returns a detail. Only its first piece states the format, because some clients concatenate every repeated text. */
  function detail(key: string, members: Omit<DetailDelta, 'index'>): DetailDelta {
    const index = details.get(key) ?? details.size;
    const firstFields = details.has(key) ? {} : { format };
    details.set(key, index);
    return { ...members, ...firstFields, index };
  }

  function isNew(block: string, signature: string): boolean {
    const before = signatures.size;
    return signatures.add(`${block} ${signature}`).size > before;
  }

  return {
    thinkingDeltas({ id: block, providerMetadata, ...part }) {
      const { signature, encrypted } = readSigned(providerMetadata);
      const text = part.type === 'reasoning-delta' ? part.delta : '';
      const isShown = text !== '' || details.has(block);
      const signed = signature !== undefined && (isShown || encrypted === undefined) && isNew(block, signature);
      const deltas: Delta[] = [];
      if (text !== '' || signed) {
        const signing = signed ? { signature: sealSigned(head, { signature }) } : {};
        const one = detail(block, { type: 'reasoning.text', text, ...signing });
        deltas.push({ ...(text === '' ? {} : { reasoning: text }), reasoning_details: [one] });
        last = { type: one.type, text: '', index: one.index };
      }
      if (encrypted !== undefined && isNew(block, encrypted)) {
        const data = sealSigned(head, { encrypted });
        const one = detail(`encrypted of ${block}`, { type: 'reasoning.encrypted', data });
        deltas.push({ reasoning_details: [one] });
        last = { type: one.type, data: '', index: one.index };
      }
      return deltas;
    },
    signedDeltas(block, { providerMetadata }, callId) {
      if (providerMetadata === undefined) {
        last = undefined;
        return [];
      }
      const { signature } = readSigned(providerMetadata);
      const phase = phaseOf({ providerMetadata });
      const phaseDetails =
        last !== undefined && phase !== undefined ? [{ reasoning_details: [{ ...last, phase }] }] : [];
      // This part is the end of one text.
      last = undefined;
      if (signature === undefined || !isNew(block, signature)) return phaseDetails;
      const of = callId === undefined ? {} : { id: callId };
      const data = sealSigned(head, { signature }, callId === undefined ? 'text' : { call: callId });
      return [
        ...phaseDetails,
        { reasoning_details: [detail(`of ${block}`, { type: 'reasoning.encrypted', data, ...of })] },
      ];
    },
  };
}

// Deltas of a chat completion that the gateway writes. Types only.

/** A piece of a detail, or a whole detail. */
interface DetailDelta {
  readonly type: 'reasoning.text' | 'reasoning.encrypted';
  readonly text?: string;
  readonly data?: string;
  readonly signature?: string;
  /** Id of a tool call. */
  readonly id?: string;
  readonly format?: string;
  readonly index: number;
  readonly phase?: string;
}

interface Delta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly refusal?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly DetailDelta[];
  readonly tool_calls?: readonly CallDelta[];
  readonly images?: readonly object[];
}

interface CallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
  readonly extra_content?: object;
}

// Parts, usage and finish reason of an answer, with the fields of a chat completion.

/** True for text with the reason why there is no answer, which its target marks. */
const isRefusal = ({ providerMetadata }: Pick<LanguageModelV4Content, 'providerMetadata'>): boolean =>
  providerMetadata?.gw?.isRefusal === true;

type ToolCall = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

function toToolCall({ toolCallId, toolName, input, providerMetadata }: ToolCall, head: AnswerHead) {
  const { signature } = head.readSigned(providerMetadata);
  const signed = signature === undefined ? undefined : sealSigned(head, { signature }, { call: toolCallId });
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input === '' ? '{}' : input },
    ...extraContent(signed),
  };
}

/** Returns the field in which Google's own clients look for a signature. */
const extraContent = (signature: string | undefined): object =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

/** Returns images with OpenRouter's fields, because chat completions define no images. */
function toImage(part: LanguageModelV4Content, head: AnswerHead): object[] {
  const base64 = part.type === 'file' ? base64Of(part) : undefined;
  if (part.type !== 'file' || base64 === undefined) return [];
  const image = { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64}` } };
  const { signature } = head.readSigned(part.providerMetadata);
  return [{ ...image, ...extraContent(signature === undefined ? undefined : sealSigned(head, { signature })) }];
}

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/**
 * Returns the finish reason. `calls` is the number of tool calls that the client has to run. Clients branch on the
 * reason, so it always agrees with the calls.
 */
function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, calls: number): FinishReason {
  if (unified === 'length' || raw === 'model_context_window_exceeded') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}

/**
 * Returns the usage; its input includes cached and cache-written tokens. Returns undefined when the provider reported
 * nothing, and the gateway estimates.
 */
function toUsage(reported: LanguageModelV4Usage) {
  const tokens = tokensOf(reported);
  if (tokens === undefined) return undefined;
  const { input, output, cached, cacheWrite, cacheWrite1h, reasoning, media = {} } = tokens;
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(input === undefined || output === undefined ? {} : { total_tokens: input + output }),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: cacheWrite,
      ...(cacheWrite1h > 0 ? { cache_write_1h_tokens: cacheWrite1h } : {}),
      ...mediaMembers(media.audioInput, media.imageInput),
    },
    completion_tokens_details: { reasoning_tokens: reasoning, ...mediaMembers(media.audioOutput, media.imageOutput) },
  };
}
