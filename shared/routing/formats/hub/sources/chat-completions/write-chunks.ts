// The parts of a streamed answer as `chat.completion.chunk`s.
import { writtenChunk } from '../../../../../protocol/interfaces/chat-completions/index.ts';
import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import type { AnswerHead, HubPart, PartOf } from '../../middle/index.ts';
import { openCallDeltas } from './call-deltas.ts';
import { type Delta, openThinkingDeltas } from './thinking-deltas.ts';
import { isRefusal, toFinishReason, toImage, toUsage } from './write-completion.ts';

export function openChunkWriter(head: AnswerHead): (part: HubPart) => AnswerEvent[] {
  let { id, model } = head;
  let isBegun = false;
  const thinking = openThinkingDeltas(head);
  const calls = openCallDeltas(head, thinking);

  const chunk = (members: object, beginsThinking = false) =>
    writtenChunk(
      { id, object: 'chat.completion.chunk', created: head.createdSeconds, model, ...members },
      beginsThinking,
    );
  const choice = (delta: Delta, reason: string | null = null, beginsThinking = false) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] }, beginsThinking);

  function finish(part: PartOf<'finish'>): AnswerEvent[] {
    const usage = toUsage(part.usage);
    const reason = toFinishReason(part.finishReason, calls.count());
    const refusal = reason === 'content_filter' ? head.refusalOf(part.providerMetadata) : undefined;
    const said = refusal === undefined ? [] : [choice({ refusal })];
    return [...said, choice({}, reason), ...(usage === undefined ? [] : [chunk({ choices: [], usage })])];
  }

  function deltasOf(part: HubPart): Delta[] {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        return thinking.ofSigned(part.id, part);
      case 'text-delta':
        return [
          ...(part.delta === '' ? [] : [isRefusal(part) ? { refusal: part.delta } : { content: part.delta }]),
          ...thinking.ofSigned(part.id, part),
        ];
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
