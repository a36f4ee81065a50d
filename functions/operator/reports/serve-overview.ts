// Serves GET /v1/manage/overview: spending, calls and failures, over time and by model, provider and key.
import { readOverview, type UsageSummary } from '../../../shared/accounting/reports/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import { inTurn } from '../request/in-turn.ts';
import type { RouteWork } from '../request/manage.ts';
import { seenCalls } from '../request/seen-calls.ts';

/** Reports run one at a time, because each reads many calls. */
export const overview: RouteWork<'GET /overview'> = inTurn(async (deps, { operator, query: { since, tag } }) => {
  const nowMs = deps.clock.nowMs();
  const seen = await seenCalls(deps, operator);
  // A call that ends in this very millisecond is included.
  const range = { ...seen, sinceMs: nowMs - since, beforeMs: nowMs + 1 };
  const read = await readOverview(range, tag);
  const data: Documents['ManagedOverview'] = {
    since: instantOf(range.sinceMs),
    until: instantOf(nowMs),
    interval: read.interval,
    is_complete: read.isComplete,
    counted_since: instantOf(Math.max(read.countedSinceMs, range.sinceMs)),
    totals: figuresOf(read.total),
    series: read.series.map(({ startMs, ...summary }) => ({ time: instantOf(startMs), ...figuresOf(summary) })),
    by_model: read.byModel.map((summary) => ({ model: summary.group, ...figuresOf(summary) })),
    by_provider: read.byProvider.map((summary) => ({
      provider: summary.group,
      ...figuresOf(summary),
      attempts: Number(summary.attempts),
      failed_attempts: Number(summary.failedAttempts),
    })),
    by_workspace: read.byWorkspace.map((summary) => ({ workspace: summary.group ?? '', ...figuresOf(summary) })),
    by_key: read.byKey.map(({ workspace, name = null, ...summary }) => ({
      key: summary.group ?? '',
      name,
      workspace,
      ...figuresOf(summary),
    })),
    tag_names: [...read.tagNames],
    // Null if the call has no tag of this name.
    by_tag: read.byTag?.map((summary) => ({ value: summary.group, ...figuresOf(summary) })),
    other_tags: read.otherTags && figuresOf(read.otherTags),
  };
  return { data };
});

/** Returns the figures. Latencies cover successful answers only; null without a successful answer. */
const figuresOf = (summary: UsageSummary) => ({
  calls: summary.calls,
  failed: summary.failedCalls,
  refused: summary.refusedCalls,
  cost_usd: formatUsd(summary.costPicoUsd),
  byok_cost_usd: formatUsd(summary.byokCostPicoUsd),
  tokens: Number(summary.promptTokens + summary.completionTokens),
  p50_ms: summary.latencyMs.p50 ?? null,
  p95_ms: summary.latencyMs.p95 ?? null,
});
