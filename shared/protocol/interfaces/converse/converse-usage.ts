// Reads `usage` of an answer of Converse as the report for billing.
import { isJsonObject, toCount, type UsageReport } from '../../wire/index.ts';

/** Returns undefined for a value that is not an object, so that nothing counts as reported. */
export function readUsageReport(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const cached = toCount(usage.cacheReadInputTokens) ?? 0;
  const details = Array.isArray(usage.cacheDetails) ? usage.cacheDetails.filter(isJsonObject) : [];
  const writtenFor = (ttl: string) =>
    details.filter((one) => one.ttl === ttl).reduce((sum, one) => sum + (toCount(one.inputTokens) ?? 0), 0);
  const cacheWrite1h = writtenFor('1h');
  const cacheWrite = toCount(usage.cacheWriteInputTokens) ?? cacheWrite1h + writtenFor('5m');
  // The count excludes cached and cache-written tokens.
  const uncached = toCount(usage.inputTokens);
  const tokens = {
    input: uncached === undefined ? undefined : uncached + cached + cacheWrite,
    cached,
    cacheWrite,
    cacheWrite1h: Math.min(cacheWrite, cacheWrite1h),
    output: toCount(usage.outputTokens),
    reasoning: 0,
  };
  return { tokens, members: usage };
}
