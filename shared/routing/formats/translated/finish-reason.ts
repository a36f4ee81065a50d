// Why an answer ended, in the words of a chat completion.
import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { AttemptFailure } from '../../providers/index.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** A provider that ended without a reason did not end well; one that gave up half of a tool call neither. */
export function finishFailure(
  { unified, raw }: LanguageModelV4FinishReason,
  unfinished: 'truncated_stream' | 'unreadable_answer',
): AttemptFailure | undefined {
  if (unified === 'interrupted' || raw === undefined) return { kind: 'failed', cause: unfinished };
  return unified === 'error' ? { kind: 'failed', cause: 'finish_error' } : undefined;
}

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function toFinishReason({ unified }: LanguageModelV4FinishReason, calls: number): FinishReason {
  if (unified === 'length') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}
