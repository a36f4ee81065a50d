// Reads `usage` of a message as the report for billing.
import { isJsonObject, type JsonObject, mediaIn, toCount, type UsageReport } from '../../wire/index.ts';

/** Returns undefined for a value that is not an object, so that nothing counts as reported. */
export function readUsageReport(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const tokens = countsOf(usage);
  for (const beside of sampledBeside(usage)) {
    for (const name of countNames) {
      const count = tokens[name];
      // A missing total is estimated.
      if (count !== undefined) tokens[name] = count + (beside[name] ?? 0);
    }
  }
  return { tokens, members: usage };
}

const countNames = ['input', 'cached', 'cacheWrite', 'cacheWrite1h', 'output', 'reasoning'] as const;

function countsOf(usage: JsonObject) {
  const written = isJsonObject(usage.cache_creation) ? usage.cache_creation : {};
  const details = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const cached = toCount(usage.cache_read_input_tokens) ?? 0;
  const cacheWrite1h = toCount(written.ephemeral_1h_input_tokens) ?? 0;
  const cacheWrite =
    toCount(usage.cache_creation_input_tokens) ?? cacheWrite1h + (toCount(written.ephemeral_5m_input_tokens) ?? 0);
  const uncached = toCount(usage.input_tokens);
  return {
    input: uncached === undefined ? undefined : uncached + cached + cacheWrite,
    cached,
    cacheWrite,
    cacheWrite1h,
    output: toCount(usage.output_tokens),
    // Thinking is a part of the output.
    reasoning: toCount(details.thinking_tokens) ?? 0,
    // The gateway reports the media of translated providers. The interface itself has no field for media.
    media: mediaIn(usage.input_tokens_details, details),
  };
}

/**
 * Types of output that is sampled in addition to the message and billed with the message. No total includes this
 * output.
 */
const besideTypes: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message']);

const sampledBeside = ({ iterations }: JsonObject) =>
  Array.isArray(iterations)
    ? iterations.filter((one) => isJsonObject(one) && besideTypes.has(one.type)).map(countsOf)
    : [];

/**
 * Merges a later report of the same stream, whose counts are totals. A field that is absent from the later report keeps
 * its value, and so does a count that is null or 0, as some servers send.
 */
export function mergeUsage(known: JsonObject, later: JsonObject): Record<string, unknown> {
  const says = ([name, value]: [string, unknown]) => value !== null && (value !== 0 || typeof known[name] !== 'number');
  const merged = ([name, value]: [string, unknown]): [string, unknown] => {
    const before = known[name];
    return [name, isJsonObject(before) && isJsonObject(value) ? mergeUsage(before, value) : value];
  };
  return { ...known, ...Object.fromEntries(Object.entries(later).filter(says).map(merged)) };
}
