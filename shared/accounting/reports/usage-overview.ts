// Totals, a series over the time, and groups by model, provider and key, of one reading of the calls. From the newest back
// and bounded: where there are more calls, it says from when on all are counted.
import { type CallRange, readNewestFirst } from './newest-first.ts';
import { type CountedCall, countedMembers, shareOf, sharesOf } from './usage-shares.ts';
import { createUsageGroups, dearestFirst, type UsageSummary } from './usage-summary.ts';

/** Calls that one overview counts, about: it stops with the window that reaches them. */
export const overviewCallsMax = 50_000;
/** Days of workspaces that one overview looks at. */
export const overviewDaysMax = 2_000;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longer times are shown by day. */
const hourlyMaxDays = 3;

export interface KeyUsage extends UsageSummary {
  readonly workspace: string;
  /** As it was called with the newest of these calls. */
  readonly name: string | undefined;
}

export interface UsageOverview {
  readonly interval: 'hour' | 'day';
  /** All calls from here on are counted, and none before. */
  readonly countedSinceMs: number;
  readonly isComplete: boolean;
  readonly total: UsageSummary;
  /** Every hour or day (UTC) of the time, also those without calls. */
  readonly series: readonly (UsageSummary & { readonly startMs: number })[];
  readonly byModel: readonly UsageSummary[];
  readonly byProvider: readonly UsageSummary[];
  readonly byKey: readonly KeyUsage[];
  /** By the values of the tag that was asked for. Undefined: none was. */
  readonly byTag: readonly UsageSummary[] | undefined;
  /** The values of the tag that are not among them, as one. Undefined: there are no more. */
  readonly otherTags: UsageSummary | undefined;
}

/** Values of a tag that stand by themselves: clients write them, as many as they like. */
export const tagValuesMax = 200;

type NamedCall = CountedCall & { readonly keyName?: string | undefined };

/** `tag`: its name. */
export async function readOverview(range: CallRange, tag?: string): Promise<UsageOverview> {
  const { sinceMs, beforeMs } = range;
  const interval = beforeMs - sinceMs <= hourlyMaxDays * dayMs ? 'hour' : 'day';
  const stepMs = interval === 'hour' ? hourMs : dayMs;
  const firstMs = startOf(sinceMs, stepMs);
  const startOfCall = ({ arrivedAtMs }: CountedCall) => Math.max(firstMs, startOf(arrivedAtMs, stepMs));
  const total = createUsageGroups((call) => [shareOf(call, null)]);
  const series = createUsageGroups((call) => [shareOf(call, String(startOfCall(call)))]);
  const [model, provider, key] = (['model', 'provider', 'key'] as const).map((by) =>
    createUsageGroups((call) => sharesOf(call, by)),
  ) as [typeof total, typeof total, typeof total];
  const byTag = tag === undefined ? undefined : createUsageGroups((call) => sharesOf(call, `tag:${tag}`));
  const newestOfKey = new Map<string, NamedCall>();
  let [calls, days, countedSinceMs] = [0, 0, beforeMs];
  const members = [...countedMembers, 'keyName', ...(tag === undefined ? [] : (['tags'] as const))] as const;
  for await (const window of readNewestFirst(range, { members })) {
    for (const call of window.calls) {
      for (const groups of [total, series, model, provider, key]) groups.add(call);
      byTag?.add(call);
      if (!newestOfKey.has(call.keyPublicId)) newestOfKey.set(call.keyPublicId, call);
    }
    calls += window.calls.length;
    days += window.daysRead;
    countedSinceMs = window.sinceMs;
    if (calls >= overviewCallsMax || days >= overviewDaysMax) break;
  }
  const tags = byTag?.dearest(tagValuesMax);
  const starts = Array.from({ length: Math.ceil((beforeMs - firstMs) / stepMs) }, (_none, at) => firstMs + at * stepMs);
  return {
    interval,
    countedSinceMs,
    isComplete: countedSinceMs <= sinceMs,
    total: total.summaryOf(null),
    series: starts.map((startMs) => ({ ...series.summaryOf(String(startMs)), startMs })),
    byModel: model.summaries().sort(dearestFirst),
    byProvider: provider.summaries().sort(dearestFirst),
    byKey: key
      .summaries()
      .sort(dearestFirst)
      .map((summary) => {
        const newest = newestOfKey.get(summary.group ?? '');
        return { ...summary, workspace: newest?.workspace ?? '', name: newest?.keyName };
      }),
    byTag: tags?.groups,
    otherTags: tags?.rest,
  };
}

const startOf = (epochMs: number, stepMs: number): number => Math.floor(epochMs / stepMs) * stepMs;
