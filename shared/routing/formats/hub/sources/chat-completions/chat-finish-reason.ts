// Why an answer ended, in the words of a chat completion.
import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, calls: number): FinishReason {
  if (unified === 'length' || raw === 'model_context_window_exceeded') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}
