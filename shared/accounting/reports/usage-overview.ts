// Sums up calls in one reading: totals, a series over time, and groups by model, provider and key. The reading goes
// from the newest back and is bounded: if there are more calls, the overview says from which time on all calls are
// counted.
import { type CallRange, readNewestFirst } from './newest-first.ts';
import { type CountedCall, countedMembers, shareOf, sharesOf } from './usage-shares.ts';
import { createUsageGroups, dearestFirst, type UsageSummary } from './usage-summary.ts';

/**
 * Approximate number of calls that one overview counts. The overview stops with the window that reaches this number.
 */
const overviewCallsMax = 50_000;
/** Maximum number of days of workspaces that one overview reads. */
const overviewDaysMax = 2_000;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Longest time that is shown by hour; longer times are shown by day. */
const hourlyMaxDays = 3;

interface KeyUsage extends UsageSummary {
  readonly workspace: string;
  /** Name of the key in the newest of these calls. */
  readonly name: string | undefined;
}

interface UsageOverview {
  readonly interval: 'hour' | 'day';
  /** Time from which on all calls are counted. Earlier calls are not counted. */
  readonly countedSinceMs: number;
  readonly isComplete: boolean;
  readonly total: UsageSummary;
  /** Every hour or day (UTC) of the time, including those without calls. */
  readonly series: readonly (UsageSummary & { readonly startMs: number })[];
  readonly byModel: readonly UsageSummary[];
  readonly byProvider: readonly UsageSummary[];
  readonly byWorkspace: readonly UsageSummary[];
  readonly byKey: readonly KeyUsage[];
  /** Names of tags of these calls, in their order; at most `tagNamesMax`. */
  readonly tagNames: readonly string[];
  /** Groups by the values of the requested tag; undefined when none was requested. */
  readonly byTag: readonly UsageSummary[] | undefined;
  /** Further values of the tag as one group; undefined when there are none. */
  readonly otherTags: UsageSummary | undefined;
}

/** Values of a tag that are listed separately, because clients write as many as they like. */
const tagValuesMax = 200;

/** Names of tags that are offered, because clients write as many as they like. */
const tagNamesMax = 200;

type NamedCall = CountedCall & { readonly keyName?: string | undefined };

/** Reads the overview. `tag` is the name of a tag. */
export async function readOverview(range: CallRange, tag?: string): Promise<UsageOverview> {
  const { sinceMs, beforeMs } = range;
  const interval = beforeMs - sinceMs <= hourlyMaxDays * dayMs ? 'hour' : 'day';
  const stepMs = interval === 'hour' ? hourMs : dayMs;
  const firstMs = startOf(sinceMs, stepMs);
  const startOfCall = ({ arrivedAtMs }: CountedCall) => Math.max(firstMs, startOf(arrivedAtMs, stepMs));
  const startCounting = () => countCalls((call) => String(startOfCall(call)), tag);
  const all = startCounting();
  const { total, series, model, provider, workspace, key, tag: byTag } = all.groups;
  let [calls, days, countedSinceMs] = [0, 0, beforeMs];
  const members = [...countedMembers, 'keyName', 'tags'] as const;
  for await (const window of readNewestFirst(range, startCounting, { members })) {
    addCounted(all, window.keeper);
    calls += window.keptCallCount;
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
    byWorkspace: workspace.summaries().sort(dearestFirst),
    byKey: key
      .summaries()
      .sort(dearestFirst)
      .map((summary) => {
        const newest = all.newestOfKey.get(summary.group ?? '');
        return { ...summary, workspace: newest?.workspace ?? '', name: newest?.keyName };
      }),
    tagNames: [...all.tagNames].sort(),
    byTag: tags?.groups,
    otherTags: tags?.rest,
  };
}

/**
 * Counts the calls of a window while it is read, because counting them all at the end would delay other calls, and
 * leave the store idle.
 */
function countCalls(startOfCall: (call: CountedCall) => string, tag: string | undefined) {
  const groups = {
    total: createUsageGroups((call) => [shareOf(call, null)]),
    series: createUsageGroups((call) => [shareOf(call, startOfCall(call))]),
    model: createUsageGroups((call) => sharesOf(call, 'model')),
    provider: createUsageGroups((call) => sharesOf(call, 'provider')),
    workspace: createUsageGroups((call) => sharesOf(call, 'workspace')),
    key: createUsageGroups((call) => sharesOf(call, 'key')),
    tag: tag === undefined ? undefined : createUsageGroups((call) => sharesOf(call, `tag:${tag}`)),
  };
  const each = Object.values(groups);
  const newestOfKey = new Map<string, NamedCall>();
  const tagNames = new Set<string>();
  return {
    groups,
    tagNames,
    newestOfKey,
    add(call: NamedCall) {
      for (const one of each) one?.add(call);
      if (!newestOfKey.has(call.keyPublicId)) newestOfKey.set(call.keyPublicId, call);
      addNames(tagNames, Object.keys(call.tags ?? {}));
    },
  };
}

function addNames(names: Set<string>, more: Iterable<string>): void {
  for (const name of more) if (names.size < tagNamesMax) names.add(name);
}

type CountedCalls = ReturnType<typeof countCalls>;

function addCounted(all: CountedCalls, older: CountedCalls): void {
  for (const name of Object.keys(all.groups) as (keyof CountedCalls['groups'])[]) {
    const others = older.groups[name];
    if (others !== undefined) all.groups[name]?.addAll(others);
  }
  for (const [key, call] of older.newestOfKey) if (!all.newestOfKey.has(key)) all.newestOfKey.set(key, call);
  addNames(all.tagNames, older.tagNames);
}

const startOf = (epochMs: number, stepMs: number): number => Math.floor(epochMs / stepMs) * stepMs;
