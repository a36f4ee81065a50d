// What call records add up to. Exact: tokens and money are summed as integers of any size.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { CallRecord } from './call-record.ts';
import { utcDayOf } from './utc-day.ts';

export const usageGroupings = ['model', 'provider', 'key', 'day'] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

export interface UsageSummary {
  /**
   * Model: the one that answered, else the one asked for. Key: its public id. Day: of the arrival, in UTC.
   * Provider: null stands for the calls that none answered.
   */
  readonly group: string | null;
  readonly calls: number;
  /** Calls with the outcome `ok`. */
  readonly okCalls: number;
  readonly cacheHits: number;
  /** Calls whose tokens are in part an estimate. */
  readonly estimatedCalls: number;
  readonly attempts: bigint;
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
    const group = groupOf[by](record);
    groups.set(group, add(groups.get(group) ?? nothingIn(group), record));
  }
  return [...groups.values()].sort((a, b) => ((a.group ?? '') < (b.group ?? '') ? -1 : 1));
}

const groupOf: Readonly<Record<UsageGrouping, (record: CallRecord) => string | null>> = {
  model: ({ modelServed, modelAsked }) => modelServed ?? modelAsked,
  provider: ({ provider }) => provider ?? null,
  key: ({ keyPublicId }) => keyPublicId,
  day: ({ arrivedAtMs }) => utcDayOf(arrivedAtMs),
};

/** A summary of no calls: where a sum starts. */
export const nothingIn = (group: string | null): UsageSummary => ({
  group,
  calls: 0,
  okCalls: 0,
  cacheHits: 0,
  estimatedCalls: 0,
  attempts: 0n,
  promptTokens: 0n,
  cachedTokens: 0n,
  completionTokens: 0n,
  costPicoUsd: 0n,
  byokCostPicoUsd: 0n,
});

const add = (sum: UsageSummary, record: CallRecord): UsageSummary => ({
  group: sum.group,
  calls: sum.calls + 1,
  okCalls: sum.okCalls + (record.outcome === 'ok' ? 1 : 0),
  cacheHits: sum.cacheHits + (record.cacheHit ? 1 : 0),
  estimatedCalls: sum.estimatedCalls + (record.estimated ? 1 : 0),
  attempts: sum.attempts + BigInt(record.attempts),
  promptTokens: sum.promptTokens + BigInt(record.promptTokens),
  cachedTokens: sum.cachedTokens + BigInt(record.cachedTokens),
  completionTokens: sum.completionTokens + BigInt(record.completionTokens),
  costPicoUsd: sum.costPicoUsd + record.costPicoUsd,
  byokCostPicoUsd: sum.byokCostPicoUsd + (record.isByok ? record.costPicoUsd : 0n),
});
