// The response itself, as JSON text: at its start, and at its end.
import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { responseText as writeResponseText } from '../../../../../protocol/interfaces/responses/index.ts';
import type { UsageReport } from '../../../../../protocol/wire/index.ts';
import type { AnswerHead } from '../../middle/index.ts';
import type { ClientTools } from './client-tools.ts';
import { estimatedMembers } from './usage-of-response.ts';

/** What a writer knows of one answer. */
export interface Writing {
  readonly head: AnswerHead;
  readonly tools: ClientTools;
  /** What the response repeats of its request: the text of an object. */
  readonly settings: () => string;
}

export interface ResponseEnd {
  readonly status: 'completed' | 'incomplete';
  readonly reason: 'max_output_tokens' | 'content_filter' | undefined;
}

export function responseEnd({ unified, raw }: LanguageModelV4FinishReason): ResponseEnd {
  if (unified === 'length' || raw === 'model_context_window_exceeded') {
    return { status: 'incomplete', reason: 'max_output_tokens' };
  }
  if (unified === 'content-filter') return { status: 'incomplete', reason: 'content_filter' };
  return { status: 'completed', reason: undefined };
}

interface Output {
  /** The texts of the items. */
  readonly items: readonly string[];
  readonly usage: UsageReport | undefined;
  readonly outputBytes: number;
}

/** `end`: left out while the answer goes on. */
export function responseText({ head, settings }: Writing, end?: ResponseEnd, output?: Output): string {
  return writeResponseText({
    id: head.id,
    createdSeconds: head.createdSeconds,
    model: head.askedModel,
    status: end?.status ?? 'in_progress',
    incompleteReason: end?.reason,
    usage: usageOf(head, output),
    items: output?.items,
    settings: settings(),
  });
}

const usageOf = (head: AnswerHead, output: Output | undefined) =>
  output && (output.usage?.members ?? estimatedMembers(head.estimatedInputTokens(), output.outputBytes));
