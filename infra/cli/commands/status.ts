// `status`: tables, limits, open holds and provider health at a glance. Reads only.

import type { CreditSummary } from '../../../shared/accounting/credit/index.ts';
import {
  createCooldowns,
  createStatisticsReader,
  type Figures,
  type Statistics,
} from '../../../shared/accounting/provider-health/index.ts';
import type { WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { leaseMs } from '../../../shared/foundation/constants/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { Clock } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { Outcome, Session } from '../args/session.ts';
import { formatAge } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import { withoutWrites } from '../target/dry-run-store.ts';
import type { TableFacts } from '../target/open-target.ts';
import { mapParallel, parallelReads } from '../target/parallel.ts';
import { accountOf, readWorkspaces, storesOn } from '../target/stores.ts';
import { describeTarget } from '../target/target.ts';
import { keyFields, readKeys } from './keys.ts';

export function addStatus(program: CommandLine): void {
  program
    .command('status')
    .description('tables, limits, open holds and provider health')
    .notes('Sizes of tables on AWS are up to six hours old.')
    .does(status);
}

async function status({ terminal, target, clock, open }: Session): Promise<Outcome> {
  const { store, describeTables } = await open();
  const place = describeTarget(target);
  terminal.showProgress('looking at tables …');
  const tables = await describeTables();
  const tablesJson = { store: place, tables: tables.map((table) => fieldJson(tableFields, table)) };
  const missing = tables.filter((table) => table.status === undefined);
  if (missing.length > 0) {
    const advice = target.kind === 'stage' ? 'deploy the stage first' : 'apply a gateway file first';
    return {
      json: tablesJson,
      lines: (style) => fieldTable(tableFields, tables, style),
      failure: `${missing.length} of ${tables.length} tables are missing: ${advice}`,
    };
  }
  terminal.showProgress('reading workspaces …');
  const workspaces = await readHolds(store, clock.nowMs());
  terminal.showProgress('reading keys …');
  const keys = await readKeys(storesOn(store).keys, clock.nowMs());
  terminal.showProgress('reading statistics …');
  const { version, statistics, providers } = await readProviderHealth(store, clock);
  const ageMs = statistics.measuredAtMs === undefined ? null : clock.nowMs() - statistics.measuredAtMs;
  return {
    json: {
      ...tablesJson,
      workspaces: workspaces.map((workspace) => fieldJson(workspaceFields, workspace)),
      keys: keys.map((key) => fieldJson(keyFields, key)),
      catalogue_version: version ?? null,
      statistics_age_ms: ageMs,
      providers: providers.map((provider) => fieldJson(providerFields, provider)),
    },
    lines: (style) => [
      place,
      '',
      ...fieldTable(tableFields, tables, style),
      '',
      ...(workspaces.length === 0 ? ['there are no workspaces'] : fieldTable(workspaceFields, workspaces, style)),
      '',
      ...(keys.length === 0 ? ['there are no keys'] : fieldTable(keyFields, keys, style)),
      '',
      ...(version === undefined
        ? ['no gateway file was applied yet']
        : [
            ...fieldTable(providerFields, providers, style),
            `statistics of the last 15 to 30 minutes: ${ageMs === null ? 'not available' : `${formatAge(ageMs)} old`}; catalogue ${version.slice(0, 12)}`,
          ]),
    ],
  };
}

const tableFields: readonly Field<TableFacts>[] = [
  { member: 'name', title: 'table', value: ({ name }) => name },
  { member: 'status', title: 'status', value: (table) => table.status ?? 'missing' },
  { member: 'items', title: 'items', align: 'right', value: ({ items }) => items },
  { member: 'bytes', title: 'bytes', align: 'right', value: ({ bytes }) => bytes },
];

interface WorkspaceHolds {
  readonly workspace: WorkspaceDocument;
  readonly summary: CreditSummary;
  /** By calls that may still be running. */
  readonly held: PicoUsd;
  /** Since the arrival of the oldest of them, to five seconds. */
  readonly oldestAgeMs: number | undefined;
  /** Held by calls that died: the next call of the workspace gives it back. */
  readonly expired: PicoUsd;
}

async function readHolds(store: Store, nowMs: number): Promise<WorkspaceHolds[]> {
  const { credit } = storesOn(store);
  return mapParallel(await readWorkspaces(store), parallelReads, async (workspace) => {
    const summary = await credit.show(accountOf(workspace));
    const open = summary.holds.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    const held = open.reduce((sum, { amount }) => sum + amount, 0n);
    // A hold lasts a lease from the arrival of its call.
    const oldest = Math.min(...open.map(({ expiresAtMs }) => expiresAtMs - leaseMs));
    return {
      workspace,
      summary,
      held,
      oldestAgeMs: open.length === 0 ? undefined : Math.max(0, nowMs - oldest),
      expired: summary.held - held,
    };
  });
}

const concurrencyOf = ({ workspace }: WorkspaceHolds) => workspace.function_concurrency;

const workspaceFields: readonly Field<WorkspaceHolds>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace.id },
  { member: 'available_usd', title: 'available USD', align: 'decimal', value: (w) => formatUsd(w.summary.available) },
  { member: 'spend_limit_usd', title: 'spend limit', align: 'decimal', value: (w) => w.workspace.spend_limit_usd },
  { member: 'function_concurrency', title: 'functions at once', align: 'right', value: concurrencyOf },
  { member: 'held_usd', title: 'held USD', align: 'decimal', value: ({ held }) => formatUsd(held) },
  {
    member: 'oldest_hold_age_ms',
    title: 'oldest',
    align: 'right',
    value: ({ oldestAgeMs }) => oldestAgeMs,
    shown: ({ oldestAgeMs }) => (oldestAgeMs === undefined ? null : formatAge(oldestAgeMs)),
  },
  { member: 'expired_usd', title: 'expired USD', align: 'decimal', value: ({ expired }) => formatUsd(expired) },
];

interface ProviderHealth {
  readonly model: string;
  readonly provider: string;
  /** It failed or was rate limited lately, and stands at the end of every plan. */
  readonly isCooling: boolean;
  /** Undefined: no call succeeded or failed lately. */
  readonly figures: Figures | undefined;
}

/** Of every provider of the applied catalogue. */
async function readProviderHealth(store: Store, clock: Clock) {
  const { catalogues } = storesOn(store);
  const version = await catalogues.readVersion();
  const document = version === undefined ? undefined : await catalogues.readBody(version);
  const cooldowns = createCooldowns({ store, clock });
  const [statistics] = await Promise.all([readStatistics(store, clock), cooldowns.refresh()]);
  const providers = (document?.models ?? []).flatMap(({ id: model, providers }) =>
    providers.map(
      ({ provider }): ProviderHealth => ({
        model,
        provider,
        isCooling: cooldowns.isCooling({ model, provider }),
        figures: statistics.ofCandidate(model, provider),
      }),
    ),
  );
  return { version, statistics, providers };
}

/**
 * Where the shared statistics are old, new ones are computed here, on a store that takes no write. A request would wait
 * for a second at most; an operator waits until they are there.
 */
async function readStatistics(store: Store, clock: Clock): Promise<Statistics> {
  const reader = createStatisticsReader({ store: withoutWrites(store), clock });
  await reader.current();
  await reader.settled();
  return reader.current();
}

/** Of the calls of the last 15 to 30 minutes. */
function stateOf(figures: Figures | undefined): 'unused' | 'failing' | 'serving' {
  if (figures === undefined) return 'unused';
  return figures.medianLatencyMs === undefined ? 'failing' : 'serving';
}

const providerFields: readonly Field<ProviderHealth>[] = [
  { member: 'model', title: 'model', isFlexible: true, value: ({ model }) => model },
  { member: 'provider', title: 'provider', isFlexible: true, value: ({ provider }) => provider },
  { member: 'state', title: 'state', value: ({ figures }) => stateOf(figures) },
  { member: 'cooling', title: 'cooling', value: ({ isCooling }) => isCooling },
  { member: 'median_latency_ms', title: 'median ms', align: 'right', value: (p) => p.figures?.medianLatencyMs },
  { member: 'throughput_rpm', title: 'per minute', align: 'decimal', value: ({ figures }) => figures?.throughputRpm },
  { member: 'uptime', title: 'uptime', align: 'decimal', value: ({ figures }) => figures?.uptime },
];
