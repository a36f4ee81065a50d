// `usage` of a chat completion, as the report that billing reads.
import { isJsonObject, type JsonObject, mediaIn, toCount, type UsageReport } from '../../wire/index.ts';

/** Names of one count, the usual one first. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  prompt_tokens: ['input_tokens'],
  completion_tokens: ['output_tokens'],
};
/** Names of cached tokens beside the details: of DeepSeek, Moonshot, and hosts of Claude. */
const cachedNames = ['prompt_cache_hit_tokens', 'cached_tokens', 'cache_read_input_tokens'];

/** `usage` under the names that most providers give it. */
export function withUsualNames(usage: JsonObject): JsonObject {
  const counts = Object.entries(otherNames).flatMap(([name, others]) => {
    const other = others.find((one) => toCount(usage[one]) !== undefined);
    return toCount(usage[name]) === undefined && other !== undefined ? [[name, usage[other]] as const] : [];
  });
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const cached = cachedNames.find((name) => toCount(usage[name]) !== undefined);
  const isOpen = toCount(details.cached_tokens) === undefined && cached !== undefined;
  if (counts.length === 0 && !isOpen) return usage;
  return {
    ...usage,
    ...Object.fromEntries(counts),
    ...(isOpen ? { prompt_tokens_details: { ...details, cached_tokens: usage[cached] } } : {}),
  };
}

/** Returns undefined for a value that is no object, so that nothing counts as reported. */
export function readUsageReport(reported: unknown): UsageReport | undefined {
  if (!isJsonObject(reported)) return undefined;
  const usage = withUsualNames(reported);
  const input = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const tokens = {
    input: toCount(usage.prompt_tokens),
    cached: toCount(input.cached_tokens) ?? 0,
    cacheWrite: toCount(input.cache_write_tokens) ?? 0,
    // Written by the gateway for translated providers only.
    cacheWrite1h: toCount(input.cache_write_1h_tokens) ?? 0,
    output: toCount(usage.completion_tokens),
    reasoning: toCount(output.reasoning_tokens) ?? 0,
    media: mediaIn(input, output),
  };
  return { tokens, members: usage };
}
