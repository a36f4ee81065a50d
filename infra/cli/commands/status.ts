// `status`: tables, limits, open holds and provider health at a glance. Reads only.

import type { CreditSummary } from '../../../shared/accounting/credit/index.ts';
import type { WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { callTimes } from '../../../shared/foundation/constants/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { Outcome, Session } from '../args/session.ts';
import { formatAge } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import type { TableFacts } from '../target/open-target.ts';
import { accountOf, readWorkspaces, storesOn } from '../target/stores.ts';
import { describeTarget, type Target } from '../target/target.ts';
import { keyFields, readKeys } from './keys.ts';
import { providerFields, readProviders } from './provider-health.ts';

export function addStatus(program: CommandLine): void {
  program
    .command('status')
    .description('tables, limits, open holds and provider health')
    .notes('Sizes of tables on AWS are up to six hours old.')
    .does(status);
}

async function status(session: Session): Promise<Outcome> {
  const { terminal, target, clock, open } = session;
  const opened = await open();
  const { store, describeTables } = opened;
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
  const workspaces = await readHolds(store, clock.nowMs(), leaseMsOf(target));
  terminal.showProgress('reading keys …');
  const keys = await readKeys(storesOn(store).keys, clock.nowMs());
  terminal.showProgress('reading statistics …');
  const { version, statistics, providers, notes } = await readProviders(session, opened);
  const ageMs = statistics.measuredAtMs === undefined ? null : clock.nowMs() - statistics.measuredAtMs;
  return {
    json: {
      ...tablesJson,
      workspaces: workspaces.map((workspace) => fieldJson(workspaceFields, workspace)),
      keys: keys.map((key) => fieldJson(keyFields, key)),
      catalogue_version: version ?? null,
      statistics_age_ms: ageMs,
      providers: providers.map((provider) => fieldJson(providerFields, provider)),
      notes,
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
            ...notes,
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

/** Of a local run the default: nothing says what it was started with. */
const leaseMsOf = (target: Target): number =>
  callTimes(target.kind === 'stage' ? stageSettings[target.stage]?.streamBudgetSeconds : undefined).leaseMs;

async function readHolds(store: Store, nowMs: number, leaseMs: number): Promise<WorkspaceHolds[]> {
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
