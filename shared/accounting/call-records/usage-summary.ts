// What call records add up to. Exact: tokens and money are summed as integers of any size.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { CallAttempt, CallRecord } from './call-record.ts';
import { utcDayOf } from './utc-day.ts';

export const usageGroupings = ['model', 'provider', 'key', 'day', 'workspace', 'user', 'title'] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

export interface UsageSummary {
  /**
   * Model: the one that answered, else the one asked for; null where the call was refused before any was called. Key: its public id. Day: of the arrival, in UTC.
   * Provider: null stands for the calls that none answered; attempts count at the provider that was called, everything
   * else at the one that answered. User, title: null where the client sent none.
   */
  readonly group: string | null;
  readonly calls: number;
  /** Calls with the outcome `ok`. */
  readonly okCalls: number;
  readonly cacheHits: number;
  /** Calls whose tokens are in part an estimate. */
  readonly estimatedCalls: number;
  readonly attempts: bigint;
  /** The part of attempts that failed. */
  readonly failedAttempts: bigint;
  readonly promptTokens: bigint;
  /** Part of promptTokens. */
  readonly cachedTokens: bigint;
  readonly completionTokens: bigint;
  readonly costPicoUsd: PicoUsd;
  /** The part of costPicoUsd that the callers' own provider keys paid, not their credit. */
  readonly byokCostPicoUsd: PicoUsd;
}

/**
 * One summary per group, ordered by group, null first. Pure: the order of the records does not matter. Takes them one
 * by one, so that a day of millions needs no more memory than its groups.
 */
export async function summarizeUsage(
  records: Iterable<CallRecord> | AsyncIterable<CallRecord>,
  by: UsageGrouping,
): Promise<readonly UsageSummary[]> {
  const groups = new Map<string | null, UsageSummary>();
  for await (const record of records) {
    for (const share of sharesOf(record, by)) {
      groups.set(share.group, addSummaries(groups.get(share.group) ?? nothingIn(share.group), share));
    }
  }
  return [...groups.values()].sort((a, b) => ((a.group ?? '') < (b.group ?? '') ? -1 : 1));
}

const groupOf: Readonly<Record<UsageGrouping, (record: CallRecord) => string | null>> = {
  model: (record) => record.modelServed ?? (isRefused(record) ? null : (record.modelAsked ?? null)),
  provider: ({ provider }) => provider ?? null,
  key: ({ keyPublicId }) => keyPublicId,
  day: ({ arrivedAtMs }) => utcDayOf(arrivedAtMs),
  workspace: ({ workspace }) => workspace,
  user: ({ user }) => user ?? null,
  title: ({ title }) => title ?? null,
};

/** Nothing was called for it, and what it names as its model may be none of the catalogue. */
const isRefused = ({ outcome, attempts }: CallRecord): boolean =>
  attempts === 0 && outcome !== 'ok' && outcome !== 'client_gone';

/** What a record adds to each group: one share as a rule, by provider one for each that was called. */
function sharesOf(record: CallRecord, by: UsageGrouping): UsageSummary[] {
  const share = shareOf(record, groupOf[by](record));
  const { attemptLog } = record;
  if (by !== 'provider' || attemptLog === undefined) return [share];
  const called = new Set([share.group, ...attemptLog.map(({ provider }) => provider)]);
  return [...called].map((group) => {
    const attempts = attemptLog.filter(({ provider }) => provider === group);
    return { ...(group === share.group ? share : nothingIn(group)), ...countAttempts(attempts) };
  });
}

const countAttempts = (attempts: readonly CallAttempt[]) => ({
  attempts: BigInt(attempts.length),
  failedAttempts: BigInt(attempts.filter(({ outcome }) => outcome !== 'ok').length),
});

const shareOf = (record: CallRecord, group: string | null): UsageSummary => ({
  group,
  calls: 1,
  okCalls: record.outcome === 'ok' ? 1 : 0,
  cacheHits: record.cacheHit ? 1 : 0,
  estimatedCalls: record.estimated ? 1 : 0,
  attempts: BigInt(record.attempts),
  failedAttempts: BigInt(record.attemptCauses.length),
  promptTokens: BigInt(record.promptTokens),
  cachedTokens: BigInt(record.cachedTokens),
  completionTokens: BigInt(record.completionTokens),
  costPicoUsd: record.costPicoUsd,
  byokCostPicoUsd: record.isByok ? record.costPicoUsd : 0n,
});

/** A summary of no calls: where a sum starts. */
export const nothingIn = (group: string | null): UsageSummary => ({
  group,
  calls: 0,
  okCalls: 0,
  cacheHits: 0,
  estimatedCalls: 0,
  attempts: 0n,
  failedAttempts: 0n,
  promptTokens: 0n,
  cachedTokens: 0n,
  completionTokens: 0n,
  costPicoUsd: 0n,
  byokCostPicoUsd: 0n,
});

export const addSummaries = (sum: UsageSummary, share: UsageSummary): UsageSummary => ({
  group: sum.group,
  calls: sum.calls + share.calls,
  okCalls: sum.okCalls + share.okCalls,
  cacheHits: sum.cacheHits + share.cacheHits,
  estimatedCalls: sum.estimatedCalls + share.estimatedCalls,
  attempts: sum.attempts + share.attempts,
  failedAttempts: sum.failedAttempts + share.failedAttempts,
  promptTokens: sum.promptTokens + share.promptTokens,
  cachedTokens: sum.cachedTokens + share.cachedTokens,
  completionTokens: sum.completionTokens + share.completionTokens,
  costPicoUsd: sum.costPicoUsd + share.costPicoUsd,
  byokCostPicoUsd: sum.byokCostPicoUsd + share.byokCostPicoUsd,
});
