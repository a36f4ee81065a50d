// Reads `usage` of a chat completion as the report for billing.
import { isJsonObject, type JsonObject, mediaIn, toCount, type UsageReport } from '../../wire/index.ts';

/** Other names of counts, by the usual name. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  prompt_tokens: ['input_tokens'],
  completion_tokens: ['output_tokens'],
};
/** Fields with the details of a count: the usual name, and that of Responses. */
const detailNames = [
  ['prompt_tokens_details', 'input_tokens_details'],
  ['completion_tokens_details', 'output_tokens_details'],
] as const;

/**
 * Returns the tokens of reasoning that the report counts next to the completion, as xAI does. The total is then the sum
 * of all three counts. `usage` has the usual names.
 */
export function separateReasoningTokens(usage: JsonObject): number {
  const details = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const reasoning = toCount(details.reasoning_tokens) ?? 0;
  const parts = (toCount(usage.prompt_tokens) ?? 0) + (toCount(usage.completion_tokens) ?? 0);
  return toCount(usage.total_tokens) === parts + reasoning ? reasoning : 0;
}

/** Names of cached tokens outside the details, as used by DeepSeek, by Moonshot, and by hosts of Claude. */
const cachedNames = ['prompt_cache_hit_tokens', 'cached_tokens', 'cache_read_input_tokens'];

/** Returns `usage` under the names that most providers use. */
export function withUsualNames(usage: JsonObject): JsonObject {
  const counts = Object.entries(otherNames).flatMap(([name, others]) => {
    const other = others.find((one) => toCount(usage[one]) !== undefined);
    return toCount(usage[name]) === undefined && other !== undefined ? [[name, usage[other]] as const] : [];
  });
  const written = [usage.prompt_tokens_details, usage.input_tokens_details].find(isJsonObject);
  const details: JsonObject = written ?? {};
  const cached = cachedNames.find((name) => toCount(usage[name]) !== undefined);
  const isOpen = toCount(details.cached_tokens) === undefined && cached !== undefined;
  const renamed = detailNames.flatMap(([name, other]) =>
    !isJsonObject(usage[name]) && isJsonObject(usage[other]) ? [[name, usage[other]] as const] : [],
  );
  if (counts.length + renamed.length === 0 && !isOpen) return usage;
  return {
    ...usage,
    ...Object.fromEntries([...counts, ...renamed]),
    ...(isOpen ? { prompt_tokens_details: { ...details, cached_tokens: usage[cached] } } : {}),
  };
}

/** Returns undefined for a value that is not an object, so that nothing counts as reported. */
export function readUsageReport(reported: unknown): UsageReport | undefined {
  if (!isJsonObject(reported)) return undefined;
  const usage = withUsualNames(reported);
  const input = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isJsonObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const completion = toCount(usage.completion_tokens);
  const beside = completion === undefined ? 0 : separateReasoningTokens(usage);
  const tokens = {
    input: toCount(usage.prompt_tokens),
    cached: toCount(input.cached_tokens) ?? 0,
    cacheWrite: toCount(input.cache_write_tokens) ?? 0,
    // The gateway writes this field for translated providers only.
    cacheWrite1h: toCount(input.cache_write_1h_tokens) ?? 0,
    output: completion === undefined ? undefined : completion + beside,
    reasoning: toCount(output.reasoning_tokens) ?? 0,
    ...(beside > 0 ? { addedReasoning: beside } : {}),
    media: mediaIn(input, output),
  };
  return { tokens, members: usage };
}
