// What a call has used, as `usage` of a chat completion: the input includes what came from a cache and what was written there.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { tokensOf } from '../../middle/index.ts';

/** Undefined: the provider reported nothing, so that the gateway estimates. */
export function toUsage(reported: LanguageModelV4Usage) {
  const tokens = tokensOf(reported);
  if (tokens === undefined) return undefined;
  const { input, output, cached, cacheWrite, cacheWrite1h, reasoning } = tokens;
  return {
    ...(input === undefined ? {} : { prompt_tokens: input }),
    ...(output === undefined ? {} : { completion_tokens: output }),
    ...(input === undefined || output === undefined ? {} : { total_tokens: input + output }),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: cacheWrite,
      ...(cacheWrite1h > 0 ? { cache_write_1h_tokens: cacheWrite1h } : {}),
    },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
