// Writes the response object as JSON text, at its start, and at its end, with its usage.
import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import { type AnswerHead, estimatedOutputTokens } from '../../../hub/index.ts';
import type { TokenReport, UsageReport } from '../../../wire/index.ts';
import { ownResponseId, responseText as writeResponseText } from '../response-opening.ts';
import type { ClientTools } from './client-tools.ts';

/** The parts of one answer that its writers share. */
export interface ResponseContext {
  readonly head: AnswerHead;
  readonly tools: ClientTools;
  /** Returns the settings that the response repeats from its request, as the JSON text of an object. */
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
  /** The items, each as JSON text. */
  readonly items: readonly string[];
  /** Tokens as the provider reported them. */
  readonly tokens: TokenReport | undefined;
  readonly outputBytes: number;
}

/** Returns the response. `end` is absent while the answer continues. */
export function responseText({ head, settings }: ResponseContext, end?: ResponseEnd, output?: Output): string {
  return writeResponseText({
    id: ownResponseId(head.id),
    createdSeconds: head.createdSeconds,
    model: head.clientModel,
    status: end?.status ?? 'in_progress',
    incompleteReason: end?.reason,
    usage: usageOf(head, output),
    items: output?.items,
    settings: settings(),
  });
}

const usageOf = (head: AnswerHead, output: Output | undefined) =>
  output && toMembers(output.tokens, head.estimatedInputTokens, output.outputBytes);

/**
 * Returns the usage. Clients expect a number for every count, so a count that the provider does not report is an
 * estimate.
 */
function toMembers(tokens: TokenReport | undefined, inputTokens: () => number, outputBytes: number) {
  const { cached = 0, cacheWrite = 0, reasoning = 0 } = tokens ?? {};
  const { input = inputTokens(), output = estimatedOutputTokens(outputBytes) } = tokens ?? {};
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

/** Returns the report; undefined when the provider reported nothing. */
export const toReport = (head: AnswerHead, { tokens, outputBytes }: Omit<Output, 'items'>): UsageReport | undefined =>
  tokens && { tokens, members: toMembers(tokens, head.estimatedInputTokens, outputBytes) };
