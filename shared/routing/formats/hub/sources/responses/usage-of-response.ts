// What a call has used, as `usage` of a response.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { UsageReport } from '../../../../../protocol/wire/index.ts';
import { estimatedOutputTokens, tokensOf } from '../../middle/index.ts';

const toMembers = (input: number, cached: number, written: number, output: number, reasoning: number) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

/** Undefined: the provider reported nothing, so that the gateway estimates. */
export function toReport(reported: LanguageModelV4Usage): UsageReport | undefined {
  const tokens = tokensOf(reported);
  if (tokens === undefined) return undefined;
  const { input = 0, cached, cacheWrite, output = 0, reasoning } = tokens;
  return { tokens, members: toMembers(input, cached, cacheWrite, output, reasoning) };
}

/** Where the provider said nothing: every count is a number to clients. */
export const estimatedMembers = (inputTokens: number, outputBytes: number) =>
  toMembers(inputTokens, 0, 0, estimatedOutputTokens(outputBytes), 0);
