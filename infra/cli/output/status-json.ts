// What `status` found, and the same as JSON.
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { KeyFigures } from '../key-figures.ts';
import type { WorkspaceHolds } from '../read-holds.ts';
import type { Health, ProviderHealth } from '../read-provider-health.ts';
import type { TableFacts } from '../read-tables.ts';
import { keyJson } from './key-table.ts';

export interface Status {
  readonly place: string;
  readonly nowMs: number;
  readonly tables: readonly TableFacts[];
  readonly workspaces: readonly WorkspaceHolds[];
  readonly keys: readonly KeyFigures[];
  readonly health: Health;
}

export const tableJson = ({ name, status, items, bytes }: TableFacts) => ({
  name,
  status: status ?? 'missing',
  items: items ?? null,
  bytes: bytes ?? null,
});

export const statusJson = ({ place, nowMs, tables, workspaces, keys, health }: Status) => ({
  store: place,
  tables: tables.map(tableJson),
  workspaces: workspaces.map(({ workspace, summary, openHolds, oldestAgeMs, expiredHolds }) => ({
    workspace: workspace.id,
    available_usd: formatUsd(summary.available),
    held_usd: formatUsd(summary.held),
    spend_limit_usd: workspace.spend_limit_usd,
    function_concurrency: workspace.function_concurrency,
    open_holds: openHolds,
    oldest_hold_age_ms: oldestAgeMs ?? null,
    expired_holds: expiredHolds,
  })),
  keys: keys.map(keyJson),
  catalogue_version: health.catalogueVersion ?? null,
  statistics_age_ms: health.measuredAtMs === undefined ? null : nowMs - health.measuredAtMs,
  providers: health.providers.map(providerJson),
});

const providerJson = ({ model, provider, isCooling, figures }: ProviderHealth) => ({
  model,
  provider,
  cooling: isCooling,
  median_latency_ms: figures?.medianLatencyMs ?? null,
  throughput_rpm: figures?.throughputRpm ?? null,
  uptime: figures?.uptime ?? null,
});
