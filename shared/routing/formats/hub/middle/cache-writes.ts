// Tokens that were written to a cache, as providers report them: packages read the sum at most.
import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isJsonObject, toCount } from '../../../../protocol/wire/index.ts';

export interface CacheWrites {
  readonly tokens: number;
  /** Of these, what is kept for an hour. */
  readonly forAnHour: number;
}

/** Anthropic's `cache_creation`, Bedrock's `cacheDetails`, and the details of chat completions. */
export function cacheWritesOf({ inputTokens, raw }: LanguageModelV4Usage): CacheWrites {
  const members: Readonly<Record<string, unknown>> = isJsonObject(raw) ? raw : {};
  const { cache_creation: creation, cacheDetails, prompt_tokens_details: details } = members;
  const chat = isJsonObject(details) ? details : {};
  const tokens = toCount(inputTokens.cacheWrite) ?? toCount(chat.cache_write_tokens) ?? 0;
  const hour =
    toCount(isJsonObject(creation) ? creation.ephemeral_1h_input_tokens : chat.cache_write_1h_tokens) ??
    hourIn(cacheDetails);
  return { tokens, forAnHour: Math.min(tokens, hour) };
}

const hourIn = (details: unknown): number =>
  (Array.isArray(details) ? details : [])
    .filter((one) => isJsonObject(one) && one.ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + (toCount(inputTokens) ?? 0), 0);
