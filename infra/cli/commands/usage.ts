// Shows calls, tokens and cost from the call records, with bars (`usage`). A bar is a group's share of the cost, or of
// the calls if nothing was paid.
import {
  isTagGrouping,
  readUsage,
  type UsageGrouping,
  type UsageSummary,
  usageGroupings,
} from '../../../shared/accounting/reports/index.ts';
import { readWorkspaces } from '../../../shared/configuration/administration/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import { readId, readSince, readText, UsageError } from '../args/option-values.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { bar } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { openAdministration } from '../target/stores.ts';

const sinceDefault = '7d';
const barWidth = 20;

export function addUsage(program: CommandLine): void {
  program
    .command('usage')
    .description('calls, tokens and cost from the call records, with a bar chart')
    .takesOption('--workspace <W>', 'of this workspace only', readId)
    .takesOption('--since <WHEN>', `7d, 12h, or a day of UTC such as 2026-11-01; default ${sinceDefault}`, readText)
    .takesOption('--by <GROUP>', `${usageGroupings.join(', ')}, or tag:NAME; default model`, readGrouping)
    .notes(
      'p50 and p95: latency of calls that a provider answered; with --by provider, of its attempts. first: time to first output.',
      'Records are kept for 90 days. Cost includes what callers paid with their own provider keys (BYOK).',
    )
    .does(usage);
}

function readGrouping(name: string, text: string): UsageGrouping {
  if (isTagGrouping(text)) return text;
  const by = usageGroupings.find((known) => known === text);
  if (by !== undefined) return by;
  throw new UsageError(`${name} is one of ${usageGroupings.join(', ')}, or tag: and the name of a tag, as in tag:team`);
}

interface UsageOptions {
  readonly workspace?: string;
  readonly since?: string;
  readonly by?: UsageGrouping;
}

async function usage(
  session: Session,
  { workspace, since = sinceDefault, by = 'model' }: UsageOptions,
): Promise<CommandOutcome> {
  const nowMs = session.clock.nowMs();
  const sinceMs = readSince('--since', since, nowMs);
  const administration = await openAdministration(session);
  const { records, keys } = administration;
  const workspaces = (await readWorkspaces(administration, workspace)).map(({ id }) => id);
  const onProgress = (done: number, all: number) =>
    session.terminal.showProgress(`reading records: ${done} of ${all} days`);
  // A call that arrived in this millisecond is included.
  const report = await readUsage({ records, workspaces, sinceMs, beforeMs: nowMs + 1, by, onProgress });
  const { groups } = report;
  const total: Total = { ...report.total, isTotal: true };
  const names = new Map<string | null, string>([[null, nullGroupOf(by)]]);
  if (by === 'key') for await (const { publicId, name } of keys.list()) names.set(publicId, `${name} (${publicId})`);
  const [from, until] = [new Date(sinceMs).toISOString(), new Date(nowMs).toISOString()];
  const fields = [groupField(by, names), ...figureFields(by, total)];
  const toJson = (summary: UsageSummary) => fieldJson(fields, summary);
  return {
    json: { since: from, until, by, groups: groups.map(toJson), total: toJson(total) },
    lines: (style) => {
      if (groups.length === 0) return [`no calls since ${from}`];
      const rows = groups.length > 1 ? [...groups, total] : groups;
      return fieldTable([...fields, barField(groups)], rows, style);
    },
  };
}

/** Sums that count every call once, because a call to several models counts at each of them. */
interface Total extends UsageSummary {
  readonly isTotal: true;
}

const isTotal = (summary: UsageSummary): summary is Total => 'isTotal' in summary;

const groupField = (by: UsageGrouping, names: ReadonlyMap<string | null, string>): Field<UsageSummary> => ({
  member: 'group',
  title: by,
  isFlexible: true,
  value: ({ group }) => group,
  shown: (summary) => (isTotal(summary) ? 'total' : (names.get(summary.group) ?? summary.group)),
});

const nullGroupOf = (by: UsageGrouping): string => (isTagGrouping(by) ? '(no such tag)' : (nullGroups[by] ?? '-'));

const nullGroups: Partial<Record<(typeof usageGroupings)[number], string>> = {
  model: '(refused)',
  provider: '(no provider answered)',
  function: '(no function)',
  user: '(no user sent)',
  title: '(no title sent)',
};

/**
 * Returns the columns. By provider the table shows attempts too, because a provider may only ever have failed. Payments
 * by callers are shown if there were any.
 */
const figureFields = (by: UsageGrouping, total: UsageSummary): readonly Field<UsageSummary>[] => [
  { member: 'calls', title: 'calls', align: 'right', value: ({ calls }) => calls },
  { member: 'ok_calls', title: 'ok', leftOut: 7, align: 'right', value: ({ okCalls }) => okCalls },
  { member: 'cache_hits', title: 'cached', leftOut: 3, align: 'right', value: ({ cacheHits }) => cacheHits },
  { member: 'estimated_calls', value: ({ estimatedCalls }) => estimatedCalls },
  { member: 'attempts', ...attemptColumn(by, 'attempts'), value: ({ attempts }) => attempts },
  { member: 'failed_attempts', ...attemptColumn(by, 'failures'), value: ({ failedAttempts }) => failedAttempts },
  { member: 'p50_ms', title: 'p50 ms', leftOut: 8, align: 'right', value: ({ latencyMs }) => latencyMs.p50 },
  { member: 'p95_ms', title: 'p95 ms', leftOut: 8, align: 'right', value: ({ latencyMs }) => latencyMs.p95 },
  {
    member: 'p50_first_output_ms',
    title: 'first p50',
    leftOut: 2,
    align: 'right',
    value: (summary) => summary.firstOutputMs.p50,
  },
  {
    member: 'p95_first_output_ms',
    title: 'first p95',
    leftOut: 2,
    align: 'right',
    value: (summary) => summary.firstOutputMs.p95,
  },
  {
    member: 'prompt_tokens',
    title: 'prompt tokens',
    leftOut: 4,
    align: 'right',
    value: ({ promptTokens }) => promptTokens,
  },
  { member: 'cached_tokens', value: ({ cachedTokens }) => cachedTokens },
  {
    member: 'completion_tokens',
    title: 'completion',
    leftOut: 5,
    align: 'right',
    value: (summary) => summary.completionTokens,
  },
  {
    member: 'byok_cost_usd',
    ...(total.byokCostPicoUsd === 0n ? {} : { title: 'BYOK USD', leftOut: 6, align: 'decimal' }),
    value: ({ byokCostPicoUsd }) => formatUsd(byokCostPicoUsd),
  },
  { member: 'cost_usd', title: 'cost USD', align: 'decimal', value: ({ costPicoUsd }) => formatUsd(costPicoUsd) },
];

const attemptColumn = (by: UsageGrouping, title: string) =>
  by === 'provider' ? ({ title, align: 'right' } as const) : {};

function barField(groups: readonly UsageSummary[]): Field<UsageSummary> {
  const isPaid = groups.some(({ costPicoUsd }) => costPicoUsd > 0n);
  const weightOf = ({ costPicoUsd, calls }: UsageSummary) => (isPaid ? Number(costPicoUsd) : calls);
  const heaviest = Math.max(...groups.map(weightOf));
  return {
    title: isPaid ? 'share of cost' : 'share of calls',
    leftOut: 1,
    value: (summary) => (isTotal(summary) ? '' : bar(weightOf(summary) / heaviest, barWidth)),
  };
}
