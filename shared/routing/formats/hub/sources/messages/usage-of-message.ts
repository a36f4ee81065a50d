// What a call has used, as `usage` of a message: its input does not hold what came from a cache or was written there.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { estimatedOutputTokens, tokensOf } from '../../middle/index.ts';

export interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number };
}

/** Undefined: the provider reported nothing, so that the gateway estimates. */
export function toUsage(reported: LanguageModelV4Usage): MessageUsage | undefined {
  const tokens = tokensOf(reported);
  if (tokens === undefined) return undefined;
  const { input = 0, output = 0, cached, cacheWrite, cacheWrite1h: hour, reasoning } = tokens;
  return {
    input_tokens: Math.max(0, input - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning },
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite - hour, ephemeral_1h_input_tokens: hour },
  };
}

/** Where the provider said nothing: every count is a number to clients. */
export const estimatedUsage = (inputTokens: number, outputBytes: number): MessageUsage => ({
  input_tokens: Math.max(1, inputTokens),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: estimatedOutputTokens(outputBytes),
  output_tokens_details: { thinking_tokens: 0 },
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
});

/** With the members that clients expect beside the counts. */
export const wholeUsage = (usage: MessageUsage) => ({
  ...usage,
  inference_geo: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
});
