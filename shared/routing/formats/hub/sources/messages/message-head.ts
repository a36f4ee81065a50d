// What a message says of itself, and why it ended.
import type { LanguageModelV4FinishReason, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { AnswerHead } from '../../middle/index.ts';

export const messageHead = ({ id, askedModel }: AnswerHead) => ({
  id: `msg_${id.replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: askedModel,
});

export interface MessageEnd {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: object | null;
}

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function messageEnd(
  { unified, raw }: LanguageModelV4FinishReason,
  calls: number,
  metadata: SharedV4ProviderMetadata | undefined,
): MessageEnd {
  // Of whichever package tells it.
  const sequence = Object.values(metadata ?? {}).find(
    ({ stopSequence: told }) => typeof told === 'string',
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
