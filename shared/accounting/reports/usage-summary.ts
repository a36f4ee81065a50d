// Sums up call records. The sums are exact, because tokens and money are summed as integers of any size.
import type { PicoUsd } from '../../foundation/money/index.ts';
import { type CallRange, readCalls } from './newest-first.ts';
import { type CountedCall, shareOf, sharesOf, type UsageGrouping, type UsageShare } from './usage-shares.ts';

/** Percentiles in milliseconds; undefined when there is no such call. */
interface Percentiles {
  readonly p50: number | undefined;
  readonly p95: number | undefined;
}

/** The sums of all shares; UsageShare describes the fields. */
export interface UsageSummary {
  readonly group: string | null;
  readonly calls: number;
  readonly okCalls: number;
  readonly failedCalls: number;
  readonly refusedCalls: number;
  readonly cacheHits: number;
  readonly estimatedCalls: number;
  readonly attempts: bigint;
  readonly failedAttempts: bigint;
  readonly promptTokens: bigint;
  readonly cachedTokens: bigint;
  readonly completionTokens: bigint;
  readonly costPicoUsd: PicoUsd;
  readonly byokCostPicoUsd: PicoUsd;
  readonly latencyMs: Percentiles;
  readonly firstOutputMs: Percentiles;
}

interface GroupedUsage {
  /** A summary of each group, ordered by group, null first. */
  readonly groups: readonly UsageSummary[];
  /** Total, in which every call counts once, even if it counts in several groups. */
  readonly total: UsageSummary;
}

/**
 * Summarizes shares. Pure, and the sequence of the records does not matter. The records are read one by one, so that a
 * day with millions of calls needs no more memory than its groups.
 */
export async function summarizeUsage(
  records: Iterable<CountedCall> | AsyncIterable<CountedCall>,
  by: UsageGrouping,
): Promise<GroupedUsage> {
  const groups = createUsageGroups((record) => sharesOf(record, by));
  const total = createUsageGroups((record) => [shareOf(record, null)]);
  for await (const record of records) {
    total.add(record);
    groups.add(record);
  }
  return {
    groups: groups.summaries().sort((a, b) => ((a.group ?? '') < (b.group ?? '') ? -1 : 1)),
    total: total.summaryOf(null),
  };
}

interface UsageGroups {
  add(record: CountedCall): void;
  /** Adds another reader's sums for the same groups. */
  addAll(others: UsageGroups): void;
  readonly sums: ReadonlyMap<string | null, Sums>;
  /** Returns a summary of each group, in no order. */
  summaries(): UsageSummary[];
  /** Returns the most expensive groups, and all others as one. */
  dearest(max: number): { readonly groups: readonly UsageSummary[]; readonly rest: UsageSummary | undefined };
  /** Returns the summary of a group, which may have no calls. */
  summaryOf(group: string | null): UsageSummary;
}

export function createUsageGroups(sharesOfCall: (record: CountedCall) => readonly UsageShare[]): UsageGroups {
  const groups = new Map<string | null, Sums>();
  const sumsOf = (group: string | null): Sums => {
    const sums = groups.get(group) ?? createSums(group);
    groups.set(group, sums);
    return sums;
  };
  return {
    sums: groups,
    add(record) {
      for (const share of sharesOfCall(record)) sumsOf(share.group).add(share);
    },
    addAll(others) {
      for (const [group, sums] of others.sums) sums.addTo(sumsOf(group));
    },
    summaries: () => [...groups.values()].map((sums) => sums.summary()),
    dearest(max) {
      const sorted = [...groups.values()]
        .map((sums) => ({ sums, summary: sums.summary() }))
        .sort((a, b) => dearestFirst(a.summary, b.summary));
      const rest = createSums(null);
      for (const { sums } of sorted.slice(max)) sums.addTo(rest);
      return {
        groups: sorted.slice(0, max).map(({ summary }) => summary),
        rest: sorted.length > max ? rest.summary() : undefined,
      };
    },
    summaryOf: (group) => (groups.get(group) ?? createSums(group)).summary(),
  };
}

/** Compares by cost, then by the number of calls. */
export function dearestFirst(a: UsageSummary, b: UsageSummary): number {
  if (a.costPicoUsd !== b.costPicoUsd) return a.costPicoUsd > b.costPicoUsd ? -1 : 1;
  return b.calls - a.calls;
}

interface Sums {
  readonly add: (share: AddedShare) => void;
  readonly addTo: (all: Sums) => void;
  readonly addDurations: (latency: Durations, firstOutput: Durations) => void;
  readonly summary: () => UsageSummary;
}

/** Figures of a call, or sums of many. */
type AddedShare = { readonly [Name in SummedName]: number | bigint } & Partial<
  Pick<UsageShare, 'latenciesMs' | 'firstOutputMs'>
>;
type SummedName = Exclude<keyof UsageSummary, 'group' | 'latencyMs' | 'firstOutputMs'>;

function createSums(group: string | null): Sums {
  const counts = { calls: 0, okCalls: 0, failedCalls: 0, refusedCalls: 0, cacheHits: 0, estimatedCalls: 0 };
  const amounts = {
    attempts: 0n,
    failedAttempts: 0n,
    promptTokens: 0n,
    cachedTokens: 0n,
    completionTokens: 0n,
    costPicoUsd: 0n,
    byokCostPicoUsd: 0n,
  };
  const latency: Durations = new Map();
  const firstOutput: Durations = new Map();
  return {
    add(share) {
      for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += Number(share[name]);
      for (const name of Object.keys(amounts) as (keyof typeof amounts)[]) amounts[name] += BigInt(share[name]);
      for (const durationMs of share.latenciesMs ?? []) addDuration(latency, durationMs);
      if (share.firstOutputMs !== undefined) addDuration(firstOutput, share.firstOutputMs);
    },
    addDurations(latencies, firstOutputs) {
      for (const [durationMs, times] of latencies) addDuration(latency, durationMs, times);
      for (const [durationMs, times] of firstOutputs) addDuration(firstOutput, durationMs, times);
    },
    addTo(all) {
      all.add({ ...counts, ...amounts });
      all.addDurations(latency, firstOutput);
    },
    summary: () => ({
      group,
      ...counts,
      ...amounts,
      latencyMs: percentilesOf(latency),
      firstOutputMs: percentilesOf(firstOutput),
    }),
  };
}

const percentilesOf = (durations: Durations): Percentiles => ({
  p50: percentileOf(durations, 0.5),
  p95: percentileOf(durations, 0.95),
});

interface UsageQuery extends CallRange {
  readonly by: UsageGrouping;
  /** Called after each day of a workspace, in no order, with the number of days that are read. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** Reads the usage. Groups are sorted by cost, then by the number of calls; days in their order. */
export async function readUsage({ by, onProgress = () => {}, ...range }: UsageQuery): Promise<GroupedUsage> {
  let done = 0;
  const onDay = (all: number) => {
    done += 1;
    onProgress(done, all);
  };
  const calls = readCalls(range, { onDay });
  const { groups, total } = await summarizeUsage(calls, by);
  return { groups: by === 'day' ? groups : groups.toSorted(dearestFirst), total };
}

// Durations as counts per value, for percentiles over any number of calls in bounded memory: exact below ten seconds,
// and to four digits beyond.

/** Counts by milliseconds. */
type Durations = Map<number, number>;

const digits = 4;

function addDuration(durations: Durations, durationMs: number, times = 1): void {
  const value = Number(durationMs.toPrecision(digits));
  durations.set(value, (durations.get(value) ?? 0) + times);
}

/** Returns the shortest duration that the given share of all durations does not exceed; undefined if there are none. */
function percentileOf(durations: Durations, share: number): number | undefined {
  const total = durations.values().reduce((sum, count) => sum + count, 0);
  const rank = Math.ceil(total * share);
  let seen = 0;
  for (const [value, count] of [...durations].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= rank) return value;
  }
  return undefined;
}
