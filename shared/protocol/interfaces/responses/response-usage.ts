import { isJsonObject, toCount, type UsageReport } from '../../wire/index.ts';

/** `usage` of a response. Undefined: it is no object, so nothing was reported. */
export function readResponseUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const tokens = {
    input: toCount(usage.input_tokens),
    cached: toCount(input.cached_tokens) ?? 0,
    cacheWrite: toCount(input.cache_write_tokens) ?? 0,
    // No provider of this interface says for how long.
    cacheWrite1h: 0,
    output: toCount(usage.output_tokens),
    reasoning: toCount(output.reasoning_tokens) ?? 0,
  };
  return { tokens, members: usage };
}
