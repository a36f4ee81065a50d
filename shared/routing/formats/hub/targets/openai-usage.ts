// Corrects `usage` with the fields of OpenAI's formats, which are counts and details of counts.

import { reasoningAdded } from '../../../../protocol/hub/index.ts';
import { separateReasoningTokens, withUsualNames } from '../../../../protocol/interfaces/chat-completions/index.ts';
import { lastObjectIn } from '../../../../protocol/interfaces/index.ts';
import { readResponseUsage } from '../../../../protocol/interfaces/responses/index.ts';
import { isJsonObject, type JsonObject, toCount, type UsageReport } from '../../../../protocol/wire/index.ts';
import { acceptedUsage } from './readable-usage.ts';

interface OpenAiUsageShape {
  /** Counts that every report has. */
  readonly required: readonly string[];
  /** Parts of counts, by count. */
  readonly details: Readonly<Record<string, readonly string[]>>;
  /** Returns the usage with the names that this module reads. */
  readonly renamed?: (usage: JsonObject) => JsonObject;
}

const mediaNames = ['audio_tokens', 'image_tokens'];
const inputNames = ['cached_tokens', 'cache_write_tokens', 'cache_write_1h_tokens', ...mediaNames];

export const responseUsage: OpenAiUsageShape = {
  required: ['input_tokens', 'output_tokens'],
  details: {
    input_tokens_details: inputNames,
    output_tokens_details: ['reasoning_tokens', ...mediaNames],
  },
  renamed: withLongWrites,
};

/** Renames tokens that are cached for longer than usual to the name that chat completions use. */
function withLongWrites(usage: JsonObject): JsonObject {
  const report = readResponseUsage(usage);
  if (report === undefined || report.tokens.cacheWrite1h === 0) return usage;
  const details = { ...(usage.input_tokens_details as JsonObject), cache_write_1h_tokens: report.tokens.cacheWrite1h };
  return { ...usage, input_tokens_details: details };
}

export const chatUsage: OpenAiUsageShape = {
  required: ['prompt_tokens', 'completion_tokens'],
  details: {
    prompt_tokens_details: inputNames,
    completion_tokens_details: ['reasoning_tokens', reasoningAdded, ...mediaNames],
  },
  renamed: withAllReasoning,
};

/**
 * Adds reasoning that is counted in addition to the completion, and marks it as added, because a package interprets the
 * completion as the whole output.
 */
function withAllReasoning(reported: JsonObject): JsonObject {
  const usage = withUsualNames(reported);
  const beside = separateReasoningTokens(usage);
  if (beside === 0) return usage;
  return {
    ...usage,
    completion_tokens: (toCount(usage.completion_tokens) ?? 0) + beside,
    completion_tokens_details: { ...(usage.completion_tokens_details as JsonObject), [reasoningAdded]: beside },
  };
}

/** Returns the part of the usage that a package can read; undefined when nothing was reported. */
export function readableOpenAiUsage(
  reported: unknown,
  { required, details, renamed = (usage) => usage }: OpenAiUsageShape,
): JsonObject | undefined {
  if (!isJsonObject(reported)) return undefined;
  const usage = renamed(reported);
  const counts = acceptedUsage(usage, { required, optionalCounts: [], subtotals: [] });
  const detailEntries = Object.entries(details).map(([member, names]) => {
    const fields = isJsonObject(usage[member]) ? usage[member] : {};
    return [
      member,
      Object.fromEntries(names.flatMap((name) => (toCount(fields[name]) === undefined ? [] : [[name, fields[name]]]))),
    ];
  });
  return { ...Object.fromEntries(required.map((name) => [name, counts[name]])), ...Object.fromEntries(detailEntries) };
}

/**
 * Returns the usage of a whole answer that no package reads, by the reader of its own interface; undefined when it
 * reports nothing.
 */
export function openAiUsageIn(
  text: string,
  read: (usage: unknown) => UsageReport | undefined,
): UsageReport | undefined {
  const report = read(lastObjectIn(text, 'usage'));
  return report?.tokens.input === undefined || report.tokens.output === undefined ? undefined : report;
}
