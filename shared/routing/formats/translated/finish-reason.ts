// Why an answer ended, in the words of a chat completion.
import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { AttemptFailure } from '../../providers/index.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Ends that packages do not know: the model wrote no answer, or a call that cannot be run. */
const failedEnds = /^(malformed_|unexpected_tool_call|too_many_tool_calls|missing_thought_signature)/i;

/** A provider that ended without a reason did not end well; one that gave up half of a tool call neither. */
export function finishFailure(
  { unified, raw }: LanguageModelV4FinishReason,
  unfinished: 'truncated_stream' | 'unreadable_answer',
): AttemptFailure | undefined {
  if (unified === 'interrupted' || raw === undefined) return { kind: 'failed', cause: unfinished };
  return unified === 'error' || failedEnds.test(raw) ? { kind: 'failed', cause: 'finish_error' } : undefined;
}

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, calls: number): FinishReason {
  if (unified === 'length' || raw === 'model_context_window_exceeded') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}
