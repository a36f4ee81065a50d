// Usage as a table with bars, and as JSON. A bar is a group's share of the cost, or of the calls where nothing was paid.
import { nothingIn, type UsageGrouping, type UsageSummary } from '../../../shared/accounting/call-records/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { Style } from '../terminal.ts';
import { bar } from './bar.ts';
import { type Column, table } from './table.ts';

const barWidth = 20;

const columnsOf = (by: UsageGrouping, barTitle: string): readonly Column[] => [
  { title: by, isFlexible: true },
  { title: 'calls', align: 'right' },
  { title: 'ok', align: 'right' },
  { title: 'cached', align: 'right' },
  { title: 'prompt tokens', align: 'right' },
  { title: 'completion', align: 'right' },
  { title: 'cost USD', align: 'decimal' },
  { title: barTitle },
];

/** `nameOf`: what a group is called. */
export function usageTable(
  summaries: readonly UsageSummary[],
  by: UsageGrouping,
  nameOf: (group: string | null) => string,
  style: Style,
): string[] {
  const isPaid = summaries.some(({ costPicoUsd }) => costPicoUsd > 0n);
  const weights = summaries.map(({ costPicoUsd, calls }) => (isPaid ? Number(costPicoUsd) : calls));
  const heaviest = Math.max(...weights);
  const rows = summaries.map((summary, index) => [
    nameOf(summary.group),
    ...figures(summary),
    bar((weights[index] ?? 0) / heaviest, barWidth),
  ]);
  const total = summaries.length > 1 ? [['total', ...figures(totalOf(summaries)), '']] : [];
  return table(columnsOf(by, isPaid ? 'share of cost' : 'share of calls'), [...rows, ...total], style);
}

const figures = (summary: UsageSummary) => [
  summary.calls,
  summary.okCalls,
  summary.cacheHits,
  summary.promptTokens,
  summary.completionTokens,
  formatUsd(summary.costPicoUsd),
];

export const usageJson = (summary: UsageSummary) => ({
  group: summary.group,
  calls: summary.calls,
  ok_calls: summary.okCalls,
  cache_hits: summary.cacheHits,
  estimated_calls: summary.estimatedCalls,
  attempts: summary.attempts,
  prompt_tokens: summary.promptTokens,
  cached_tokens: summary.cachedTokens,
  completion_tokens: summary.completionTokens,
  cost_usd: formatUsd(summary.costPicoUsd),
  byok_cost_usd: formatUsd(summary.byokCostPicoUsd),
});

export const totalOf = (summaries: readonly UsageSummary[]): UsageSummary =>
  summaries.reduce(
    (sum, one) => ({
      group: null,
      calls: sum.calls + one.calls,
      okCalls: sum.okCalls + one.okCalls,
      cacheHits: sum.cacheHits + one.cacheHits,
      estimatedCalls: sum.estimatedCalls + one.estimatedCalls,
      attempts: sum.attempts + one.attempts,
      promptTokens: sum.promptTokens + one.promptTokens,
      cachedTokens: sum.cachedTokens + one.cachedTokens,
      completionTokens: sum.completionTokens + one.completionTokens,
      costPicoUsd: sum.costPicoUsd + one.costPicoUsd,
      byokCostPicoUsd: sum.byokCostPicoUsd + one.byokCostPicoUsd,
    }),
    nothingIn(null),
  );
