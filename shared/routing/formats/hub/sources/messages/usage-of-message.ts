// What a call has used, as `usage` of a message: its input does not hold what came from a cache or was written there.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { toCount } from '../../../../../protocol/wire/index.ts';
import { cacheWritesOf } from '../../middle/index.ts';

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
  const { inputTokens, outputTokens } = reported;
  const input = toCount(inputTokens.total);
  const output = toCount(outputTokens.total);
  if (input === undefined && output === undefined) return undefined;
  const cached = toCount(inputTokens.cacheRead) ?? 0;
  const { tokens: written, forAnHour: hour } = cacheWritesOf(reported);
  return {
    input_tokens: Math.max(0, (input ?? 0) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: output ?? 0,
    output_tokens_details: { thinking_tokens: toCount(outputTokens.reasoning) ?? 0 },
    cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
  };
}

/** Text is about a token for four bytes; a client that plans by it should not be told too little. */
const bytesPerToken = 3;

/** Where the provider said nothing: every count is a number to clients. */
export const estimatedUsage = (inputTokens: number, outputBytes: number): MessageUsage => ({
  input_tokens: Math.max(1, inputTokens),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: Math.ceil(outputBytes / bytesPerToken),
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
