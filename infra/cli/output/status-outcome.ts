// `status` for people.
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { Outcome } from '../command.ts';
import type { WorkspaceHolds } from '../read-holds.ts';
import type { Health } from '../read-provider-health.ts';
import type { TableFacts } from '../read-tables.ts';
import type { Style } from '../terminal.ts';
import { formatAge } from './age.ts';
import { keyTable } from './key-table.ts';
import { type Status, statusJson } from './status-json.ts';
import { table } from './table.ts';

export const statusOutcome = (status: Status): Outcome => ({
  json: statusJson(status),
  lines: (style) => [
    status.place,
    '',
    ...tablesLines(status.tables, style),
    '',
    ...(status.workspaces.length === 0 ? ['there are no workspaces'] : workspaceLines(status.workspaces, style)),
    '',
    ...(status.keys.length === 0 ? ['there are no keys'] : keyTable(status.keys, style)),
    '',
    ...healthLines(status.health, status.nowMs, style),
  ],
});

export const tablesLines = (tables: readonly TableFacts[], style: Style): string[] =>
  table(
    [{ title: 'table' }, { title: 'status' }, { title: 'items', align: 'right' }, { title: 'bytes', align: 'right' }],
    tables.map(({ name, status, items, bytes }) => [name, status ?? 'missing', items, bytes]),
    style,
  );

const workspaceLines = (workspaces: readonly WorkspaceHolds[], style: Style): string[] =>
  table(
    [
      { title: 'workspace', isFlexible: true },
      { title: 'available USD', align: 'decimal' },
      { title: 'spend limit', align: 'decimal' },
      { title: 'functions at once', align: 'right' },
      { title: 'open holds', align: 'right' },
      { title: 'oldest', align: 'right' },
      { title: 'held USD', align: 'decimal' },
      { title: 'expired', align: 'right' },
    ],
    workspaces.map(({ workspace, summary, openHolds, oldestAgeMs, expiredHolds }) => [
      workspace.id,
      formatUsd(summary.available),
      workspace.spend_limit_usd,
      workspace.function_concurrency,
      openHolds,
      oldestAgeMs === undefined ? null : formatAge(oldestAgeMs),
      formatUsd(summary.held),
      expiredHolds,
    ]),
    style,
  );

function healthLines({ catalogueVersion, measuredAtMs, providers }: Health, nowMs: number, style: Style): string[] {
  if (catalogueVersion === undefined) return ['no gateway file was applied yet'];
  const age = measuredAtMs === undefined ? 'not available' : `${formatAge(nowMs - measuredAtMs)} old`;
  return [
    ...table(
      [
        { title: 'model', isFlexible: true },
        { title: 'provider', isFlexible: true },
        { title: 'cooling' },
        { title: 'median ms', align: 'right' },
        { title: 'per minute', align: 'decimal' },
        { title: 'uptime', align: 'decimal' },
      ],
      providers.map(({ model, provider, isCooling, figures }) => [
        model,
        provider,
        isCooling ? 'yes' : 'no',
        figures?.medianLatencyMs,
        figures?.throughputRpm,
        figures?.uptime,
      ]),
      style,
    ),
    `statistics of the last 15 to 30 minutes: ${age}; catalogue ${catalogueVersion.slice(0, 12)}`,
  ];
}
