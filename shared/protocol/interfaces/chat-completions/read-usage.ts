// `usage` of a chat completion, as the report that billing reads.
import { isJsonObject, toCount, type UsageReport } from '../../wire/index.ts';

/** Undefined: it is no object, so nothing was reported. */
export function readUsageReport(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const tokens = {
    input: toCount(usage.prompt_tokens),
    cached: toCount(input.cached_tokens) ?? 0,
    cacheWrite: toCount(input.cache_write_tokens) ?? 0,
    // What the gateway says of providers whose format it translates: no provider of this one does.
    cacheWrite1h: toCount(input.cache_write_1h_tokens) ?? 0,
    output: toCount(usage.completion_tokens),
    reasoning: toCount(output.reasoning_tokens) ?? 0,
  };
  return { tokens, members: usage };
}
