// Writes the fields that are merged into a provider's `usage`.
import { formatUsd, type PicoUsd, toUsdNumber } from '../../foundation/money/index.ts';
import type { UsageReport } from '../../protocol/wire/index.ts';
import type { BilledUsage } from './billed-usage.ts';
import type { Cost } from './cost.ts';

/** Counts that are reported if the provider gave none. */
type ReportedTokens = Pick<BilledUsage, 'promptTokens' | 'completionTokens' | 'estimated'>;

interface ServedBy {
  readonly provider: string;
  /** Catalogue id of the model. */
  readonly model: string;
  /** Number of provider calls for this answer. */
  readonly attempts: number;
  readonly isByok: boolean;
  readonly cacheHit: boolean;
}

interface Charged {
  /** Price for the workspace: zero if a client's own key or the cache paid. */
  readonly total: PicoUsd;
  /** The provider's charge, paid by the workspace or by the client. */
  readonly upstream: Cost;
}

/**
 * Adds the gateway's fields to the provider's usage. `cost` is a number, because a popular client rejects other
 * answers.
 */
export function mergeUsage(
  reported: UsageReport['members'] | undefined,
  billed: ReportedTokens,
  charged: Charged,
  servedBy: ServedBy,
): Record<string, unknown> {
  return {
    ...reported,
    ...(billed.estimated ? tokenMembers(billed) : {}),
    cost: toUsdNumber(charged.total),
    cost_usd: formatUsd(charged.total),
    cost_details: {
      upstream_inference_prompt_cost: toUsdNumber(charged.upstream.prompt),
      upstream_inference_completions_cost: toUsdNumber(charged.upstream.completion),
    },
    is_byok: servedBy.isByok,
    provider: servedBy.provider,
    model: servedBy.model,
    attempts: servedBy.attempts,
    cache_hit: servedBy.cacheHit,
  };
}

/** Returns the standard fields if the provider gave no usable count, marked as estimates. */
const tokenMembers = (billed: ReportedTokens): Record<string, unknown> => ({
  prompt_tokens: billed.promptTokens,
  completion_tokens: billed.completionTokens,
  total_tokens: billed.promptTokens + billed.completionTokens,
  estimated: true,
});
