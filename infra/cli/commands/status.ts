// Shows tables, limits, open reservations and provider health at a glance (`status`). It only reads.

import { readCredits, type WorkspaceCredit } from '../../../shared/configuration/administration/index.ts';
import { callTimes } from '../../../shared/foundation/constants/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import { stageSettings } from '../../cdk/stage-settings.ts';
import { performOn } from '../args/call-command.ts';
import type { CommandLine } from '../args/command-line.ts';
import type { CommandOutcome, Session } from '../args/session.ts';
import { formatAge } from '../output/format.ts';
import { type Field, fieldJson, fieldTable } from '../output/table.ts';
import type { TableStatus } from '../target/open-store.ts';
import { openAdministration } from '../target/stores.ts';
import { describeTarget, type Target } from '../target/target.ts';
import { keyFields } from './keys.ts';
import { providerFields, readProviders } from './provider-health.ts';

export function addStatus(program: CommandLine): void {
  program
    .command('status')
    .description('tables, limits, reserved amounts and provider health')
    .notes('Sizes of tables on AWS are up to six hours old.')
    .does(status);
}

async function status(session: Session): Promise<CommandOutcome> {
  const { terminal, target, clock, open } = session;
  const opened = await open();
  const { describeTables } = opened;
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
  const administration = await openAdministration(session);
  const credits = await readCredits(administration);
  const workspaces = credits.map((credit) => withHolds(credit, clock.nowMs(), holdLifeMsOf(target)));
  const { data: keys } = await performOn(session, 'GET /keys', {});
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

const tableFields: readonly Field<TableStatus>[] = [
  { member: 'name', title: 'table', value: ({ name }) => name },
  { member: 'status', title: 'status', value: (table) => table.status ?? 'missing' },
  { member: 'items', title: 'items', align: 'right', value: ({ items }) => items },
  { member: 'bytes', title: 'bytes', align: 'right', value: ({ bytes }) => bytes },
];

interface WorkspaceHolds extends WorkspaceCredit {
  /** Age of the oldest call that may still be running, since its arrival, to five seconds. */
  readonly oldestAgeMs: number | undefined;
}

/** Returns the lifetime of a reservation; the default for a local run, whose options are not stored. */
const holdLifeMsOf = (target: Target): number =>
  callTimes(target.kind === 'stage' ? stageSettings[target.stage]?.streamBudgetSeconds : undefined).holdLifeMs;

function withHolds(credit: WorkspaceCredit, nowMs: number, holdLifeMs: number): WorkspaceHolds {
  const { firstEndMs } = credit.summary;
  // A reservation lasts this long from the arrival of its call.
  const oldestAgeMs = firstEndMs === undefined ? undefined : Math.max(0, nowMs - (firstEndMs - holdLifeMs));
  return { ...credit, oldestAgeMs };
}

const functionsOf = ({ workspace }: WorkspaceHolds) => workspace.function_concurrency;

const workspaceFields: readonly Field<WorkspaceHolds>[] = [
  { member: 'workspace', title: 'workspace', isFlexible: true, value: ({ workspace }) => workspace.id },
  { member: 'available_usd', title: 'available USD', align: 'decimal', value: (w) => formatUsd(w.summary.available) },
  { member: 'spend_limit_usd', title: 'spend limit', align: 'decimal', value: (w) => w.workspace.spend_limit_usd },
  { member: 'concurrency', title: 'concurrent calls', align: 'right', value: ({ workspace }) => workspace.concurrency },
  { member: 'function_concurrency', title: 'concurrent functions', align: 'right', value: functionsOf },
  { member: 'held_usd', title: 'reserved USD', align: 'decimal', value: ({ summary }) => formatUsd(summary.held) },
  {
    member: 'oldest_hold_age_ms',
    title: 'oldest',
    align: 'right',
    value: ({ oldestAgeMs }) => oldestAgeMs,
    shown: ({ oldestAgeMs }) => (oldestAgeMs === undefined ? null : formatAge(oldestAgeMs)),
  },
  // Part of the available credit that is still reserved for calls whose process died.
  { member: 'expired_usd', title: 'expired USD', align: 'decimal', value: ({ summary }) => formatUsd(summary.expired) },
];
