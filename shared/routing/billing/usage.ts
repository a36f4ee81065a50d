// What a provider says was used, made safe to bill: negative and non-numeric counts are estimated from what the gateway saw
// itself, and a count beyond what the call can have used is billed at that bound.
import { isJsonObject } from '../../protocol/wire/index.ts';

export interface BilledUsage {
  readonly promptTokens: number;
  /** Part of promptTokens. */
  readonly cachedTokens: number;
  /** Everything generated, reasoning included. */
  readonly completionTokens: number;
  /** True where a count rests on an estimate instead of the provider's word. */
  readonly estimated: boolean;
}

export interface ObservedOutput {
  readonly outputBytes: number;
  /** Of them what came after the report, so that the report cannot know of it. */
  readonly bytesAfterUsage?: number;
}

/** What the gateway saw itself: the ground of every estimate. */
export interface Observed extends ObservedOutput {
  readonly promptTokens: number;
}

/** The most that the call can have used. */
export interface UsageBounds {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** English text is about four bytes a token in every common tokenizer. */
const bytesPerToken = 4;
/** No model has a context a thousandth of this. */
const tokensMax = 1_000_000_000;
const widestBounds: UsageBounds = { promptTokens: tokensMax, completionTokens: tokensMax };

export function readUsage(
  reported: Record<string, unknown> | undefined,
  reasoningTokens: 'included' | 'additive',
  observed: Observed,
  bounds: UsageBounds = widestBounds,
): BilledUsage {
  const prompt = toCount(reported?.prompt_tokens);
  const completion = toCount(reported?.completion_tokens);
  const cached = toCount(memberOf(reported?.prompt_tokens_details, 'cached_tokens')) ?? 0;
  const reasoning = toCount(memberOf(reported?.completion_tokens_details, 'reasoning_tokens')) ?? 0;
  const unreportedBytes = completion === undefined ? observed.outputBytes : (observed.bytesAfterUsage ?? 0);
  const used = {
    prompt: prompt ?? observed.promptTokens,
    completion:
      (completion ?? 0) +
      Math.ceil(unreportedBytes / bytesPerToken) +
      (reasoningTokens === 'additive' && completion !== undefined ? reasoning : 0),
  };
  const promptTokens = Math.min(used.prompt, bounds.promptTokens);
  const completionTokens = Math.min(used.completion, bounds.completionTokens);
  const isBounded = promptTokens < used.prompt || completionTokens < used.completion;
  return {
    promptTokens,
    cachedTokens: Math.min(cached > tokensMax ? 0 : cached, promptTokens),
    completionTokens,
    estimated: prompt === undefined || completion === undefined || unreportedBytes > 0 || isBounded,
  };
}

export const sumBilledUsage = (usages: readonly BilledUsage[]): BilledUsage => ({
  promptTokens: usages.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
  cachedTokens: usages.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0),
  completionTokens: usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  estimated: usages.some(({ estimated }) => estimated),
});

/** Zero is a count; a missing, negative or fractional number is none. */
const toCount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;

/** Whether a report names a count at all. One without must not replace one that does (contract 6). */
export const hasCounts = (reported: Record<string, unknown>): boolean =>
  toCount(reported.prompt_tokens) !== undefined || toCount(reported.completion_tokens) !== undefined;

const memberOf = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);
