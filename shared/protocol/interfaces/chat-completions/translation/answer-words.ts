// Parts, usage and finish reason of an answer in the form of a chat completion.
import type { LanguageModelV4Content, LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import { type AnswerHead, base64Of, mediaMembers, sealed, tokensOf } from '../../../hub/index.ts';

/** A text that says why there is no answer: its target marks it. */
export const isRefusal = ({ providerMetadata }: Pick<LanguageModelV4Content, 'providerMetadata'>): boolean =>
  providerMetadata?.gw?.isRefusal === true;

type ToolCall = Extract<LanguageModelV4Content, { type: 'tool-call' }>;

export function toToolCall({ toolCallId, toolName, input, providerMetadata }: ToolCall, head: AnswerHead) {
  const { signature } = head.readSigned(providerMetadata);
  const signed = signature === undefined ? undefined : sealed(head, { signature }, { call: toolCallId });
  return {
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input === '' ? '{}' : input },
    ...extraContent(signed),
  };
}

/** Where Google's own clients look for a signature. */
const extraContent = (signature: string | undefined): object =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

/** In OpenRouter's form: chat completions have none of their own. */
export function toImage(part: LanguageModelV4Content, head: AnswerHead): object[] {
  const base64 = part.type === 'file' ? base64Of(part) : undefined;
  if (part.type !== 'file' || base64 === undefined) return [];
  const image = { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64}` } };
  const { signature } = head.readSigned(part.providerMetadata);
  return [{ ...image, ...extraContent(signature === undefined ? undefined : sealed(head, { signature })) }];
}

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, calls: number): FinishReason {
  if (unified === 'length' || raw === 'model_context_window_exceeded') return 'length';
  if (unified === 'content-filter') return 'content_filter';
  return calls > 0 ? 'tool_calls' : 'stop';
}

/**
 * The input includes cached and cache-written tokens. Returns undefined when nothing was reported, and the gateway
 * estimates.
 */
export function toUsage(reported: LanguageModelV4Usage) {
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
