// GET /v1/manage/overview: what was spent, called and failed, over the time and by model, provider and key.
import * as z from 'zod/mini';
import { readOverview, type UsageSummary } from '../../../shared/accounting/reports/index.ts';
import type { Overview } from '../../../shared/configuration/management-documents/index.ts';
import { matching } from '../../../shared/configuration/value-forms/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import { tagNameShape } from '../../../shared/protocol/wire/index.ts';
import { sinceParameter } from '../request/forms.ts';
import type { Work } from '../request/manage.ts';
import { readQuery } from '../request/read-asked.ts';
import { seenCalls } from '../request/seen-calls.ts';

const parameters = z.strictObject({
  since: sinceParameter,
  /** By whose values calls are grouped too. */
  tag: z.optional(matching(tagNameShape, 'the name of a tag')),
});

export const overview: Work = async (deps, request) => {
  const { since, tag } = readQuery(request, parameters);
  const nowMs = deps.clock.nowMs();
  const seen = await seenCalls(deps, request.operator);
  // A call that ends in this very millisecond is one of them.
  const range = { ...seen, sinceMs: nowMs - since, beforeMs: nowMs + 1 };
  const read = await readOverview(range, tag);
  const data: Overview = {
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
    by_key: read.byKey.map(({ workspace, name = null, ...summary }) => ({
      key: summary.group ?? '',
      name,
      workspace,
      ...figuresOf(summary),
    })),
    // Null: the call has no such tag.
    by_tag: read.byTag?.map((summary) => ({ value: summary.group, ...figuresOf(summary) })),
    other_tags: read.otherTags && figuresOf(read.otherTags),
  };
  return { data };
};

/** Latencies are those of calls that were answered well; null: there are none. */
const figuresOf = (summary: UsageSummary) => ({
  calls: summary.calls,
  failed: summary.failedCalls,
  refused: summary.refusedCalls,
  cost_usd: formatUsd(summary.costPicoUsd),
  tokens: Number(summary.promptTokens + summary.completionTokens),
  p50_ms: summary.latencyMs.p50 ?? null,
  p95_ms: summary.latencyMs.p95 ?? null,
});
