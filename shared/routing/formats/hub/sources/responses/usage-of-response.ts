// What a call has used, as `usage` of a response.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { toCount, type UsageReport } from '../../../../../protocol/wire/index.ts';
import { cacheWritesOf } from '../../middle/index.ts';

const toMembers = (input: number, cached: number, written: number, output: number, reasoning: number) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

/** Undefined: the provider reported nothing, so that the gateway estimates. */
export function toReport(reported: LanguageModelV4Usage): UsageReport | undefined {
  const { inputTokens, outputTokens } = reported;
  const input = toCount(inputTokens.total);
  const output = toCount(outputTokens.total);
  if (input === undefined && output === undefined) return undefined;
  const cached = toCount(inputTokens.cacheRead) ?? 0;
  const { tokens: cacheWrite, forAnHour: cacheWrite1h } = cacheWritesOf(reported);
  const reasoning = toCount(outputTokens.reasoning) ?? 0;
  return {
    tokens: { input, cached, cacheWrite, cacheWrite1h, output, reasoning },
    members: toMembers(input ?? 0, cached, cacheWrite, output ?? 0, reasoning),
  };
}

/** Text is about a token for four bytes; a client that plans by it should not be told too little. */
const bytesPerToken = 3;

/** Where the provider said nothing: every count is a number to clients. */
export const estimatedMembers = (inputTokens: number, outputBytes: number) =>
  toMembers(inputTokens, 0, 0, Math.ceil(outputBytes / bytesPerToken), 0);
