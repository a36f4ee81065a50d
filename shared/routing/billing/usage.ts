// What a provider says was used, made safe to bill: negative, non-numeric or absurd numbers never credit anyone and
// never charge a fortune (contract 6). A number that is missing is estimated from the bytes that were relayed.
import { isJsonObject } from '../../protocol/wire/index.ts';

export interface BilledUsage {
  readonly promptTokens: number;
  /** Part of promptTokens. */
  readonly cachedTokens: number;
  /** Everything generated, reasoning included. */
  readonly completionTokens: number;
  /** True where a count rests on bytes instead of the provider's word. */
  readonly estimated: boolean;
}

/** What the gateway saw itself: the ground of every estimate. */
export interface ObservedBytes {
  readonly prompt: number;
  readonly output: number;
  /** Of the output what came after the report, so that the report cannot know of it. */
  readonly outputAfterUsage?: number;
}

/** English text is about four bytes a token in every common tokenizer. */
const bytesPerToken = 4;
/** No model has a context a thousandth of this: a larger count is a fault, so it is not believed. */
const tokensMax = 1_000_000_000;

export function readUsage(
  reported: Record<string, unknown> | undefined,
  reasoningTokens: 'included' | 'additive',
  observed: ObservedBytes,
): BilledUsage {
  const prompt = toCount(reported?.prompt_tokens);
  const completion = toCount(reported?.completion_tokens);
  const promptTokens = prompt ?? Math.ceil(observed.prompt / bytesPerToken);
  const unreported = completion === undefined ? observed.output : (observed.outputAfterUsage ?? 0);
  const completionTokens = (completion ?? 0) + Math.ceil(unreported / bytesPerToken);
  const cached = toCount(memberOf(reported?.prompt_tokens_details, 'cached_tokens')) ?? 0;
  const reasoning = toCount(memberOf(reported?.completion_tokens_details, 'reasoning_tokens')) ?? 0;
  return {
    promptTokens,
    cachedTokens: Math.min(cached, promptTokens),
    completionTokens: completionTokens + (reasoningTokens === 'additive' && completion !== undefined ? reasoning : 0),
    estimated: prompt === undefined || completion === undefined || unreported > 0,
  };
}

export const sumBilledUsage = (usages: readonly BilledUsage[]): BilledUsage => ({
  promptTokens: usages.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
  cachedTokens: usages.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0),
  completionTokens: usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
  estimated: usages.some(({ estimated }) => estimated),
});

/** Zero is a count; a missing, negative or fractional number is none. */
function toCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  if (value < 0 || value > tokensMax) return undefined;
  return value;
}

const memberOf = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);
