// What a call has used, as `usage` of a chat completion: the input includes what came from a cache and what was written there.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { toCount } from '../../../../../protocol/wire/index.ts';
import { cacheWritesOf } from '../../middle/index.ts';

export interface ChatUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly prompt_tokens_details?: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    /** Part of what was written: what is kept for an hour. */
    readonly cache_write_1h_tokens?: number;
  };
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
}

/** Undefined: the provider reported nothing, so that the gateway estimates. */
export function toUsage(reported: LanguageModelV4Usage): ChatUsage | undefined {
  const { inputTokens, outputTokens } = reported;
  const input = toCount(inputTokens.total);
  const output = toCount(outputTokens.total);
  if (input === undefined && output === undefined) return undefined;
  const { tokens: written, forAnHour } = cacheWritesOf(reported);
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(input === undefined || output === undefined ? {} : { total_tokens: input + output }),
    prompt_tokens_details: {
      cached_tokens: toCount(inputTokens.cacheRead) ?? 0,
      cache_write_tokens: written,
      ...(forAnHour > 0 ? { cache_write_1h_tokens: forAnHour } : {}),
    },
    completion_tokens_details: { reasoning_tokens: toCount(outputTokens.reasoning) ?? 0 },
  };
}
