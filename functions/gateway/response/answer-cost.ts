// Computes the price of an answer, as a client gets it.
import type { CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { formatUsd, toUsdNumber } from '../../../shared/foundation/money/index.ts';
import type { AnswerCost, UsageReport } from '../../../shared/protocol/wire/index.ts';
import { type Charge, mergeUsage, noCost } from '../../../shared/routing/billing/index.ts';
import { type AnsweredCall, sourceOf } from './answered-call.ts';

/** Returns the price of an answer that a provider has given for this call. */
export function chargedCost(
  { call, run: { attemptCount }, provided }: AnsweredCall,
  { usage, payer }: Charge,
  reported: UsageReport | undefined,
): AnswerCost {
  const { bill } = call.admitted;
  const total = bill.totalOf('workspace');
  const source = { ...sourceOf(provided), attempts: attemptCount };
  return {
    costUsd: formatUsd(total),
    cost: toUsdNumber(total),
    mergedUsage: () =>
      mergeUsage(
        reported?.members,
        usage,
        { total, upstream: bill.upstreamCost() },
        { ...source, isByok: payer === 'client', cacheHit: false },
      ),
  };
}

export function cachedCost({ provider, model, usage }: CachedAnswer, reported: UsageReport | undefined): AnswerCost {
  const source = { provider, model, attempts: 0, isByok: false, cacheHit: true };
  return {
    costUsd: formatUsd(0n),
    cost: 0,
    mergedUsage: () => mergeUsage(reported?.members, usage, { total: 0n, upstream: noCost }, source),
  };
}
