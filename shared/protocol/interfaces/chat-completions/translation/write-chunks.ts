// Writes the parts of an answer as chunks of a chat completion: a client gets the chunks, or the completion that they
// make.
import type { AnswerHead, HubPart, PartOf } from '../../../hub/index.ts';
import { isRefusal, toFinishReason, toImage, toUsage } from './answer-words.ts';
import { openCallDeltas } from './call-deltas.ts';
import type { Delta } from './deltas.ts';
import { openThinkingDeltas } from './thinking-deltas.ts';

export interface Chunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: 0;
    readonly delta: Delta;
    readonly logprobs: null;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object;
}

/** `beginsThinking`: it says so by coming. */
type EmitChunk = (chunk: Chunk, beginsThinking: boolean) => void;

export function openChunks(head: AnswerHead, emit: EmitChunk): (part: HubPart) => void {
  let { id, model } = head;
  let isBegun = false;
  let hasRefused = false;
  const thinking = openThinkingDeltas(head);
  const calls = openCallDeltas(head, thinking);

  const chunk = (choices: Chunk['choices']): Chunk => {
    return { id, object: 'chat.completion.chunk', created: head.createdSeconds, model, choices };
  };
  const addChoice = (delta: Delta, reason: string | null = null, beginsThinking = false) =>
    emit(chunk([{ index: 0, delta, logprobs: null, finish_reason: reason }]), beginsThinking);

  function begin(beginsThinking: boolean): void {
    if (!isBegun) addChoice({ role: 'assistant', content: '' }, null, beginsThinking);
    isBegun = true;
  }

  function finish(part: PartOf<'finish'>): void {
    begin(false);
    const usage = toUsage(part.usage);
    const reason = toFinishReason(part.finishReason, calls.count());
    const isExplained = reason === 'content_filter' && !hasRefused;
    const refusal = isExplained ? head.refusalOf(part.providerMetadata) : undefined;
    if (refusal !== undefined) addChoice({ refusal });
    addChoice({}, reason);
    if (usage !== undefined) emit({ ...chunk([]), usage }, false);
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
        return thinking.ofSigned(part.id, part);
      case 'text-delta':
        return outputIn(part).concat(thinking.ofSigned(part.id, part));
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return thinking.ofThinking(part);
      case 'tool-input-start':
        return calls.ofStart(part);
      case 'tool-input-delta':
        return calls.ofPiece(part);
      case 'tool-call':
        return calls.ofCall(part);
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
    for (const delta of deltas) addChoice(delta);
  };
}
