// `status`: tables, limits, open holds and provider health at a glance. Reads only.
import type { Command, Outcome, Session } from '../command.ts';
import { readKeyFigures } from '../key-figures.ts';
import type { OpenTarget } from '../open-target.ts';
import { tableJson } from '../output/status-json.ts';
import { statusOutcome, tablesLines } from '../output/status-outcome.ts';
import { readHoldsOfWorkspaces } from '../read-holds.ts';
import { readProviderHealth } from '../read-provider-health.ts';
import { readTables } from '../read-tables.ts';
import { storesOn } from '../stores.ts';
import { describeTarget } from '../target.ts';

export const statusCommand: Command<OpenTarget> = {
  name: 'status',
  summary: 'tables, limits, open holds and provider health',
  notes: ['Sizes of tables on AWS are up to six hours old.'],
  prepare: () => status,
};

async function status(session: Session<OpenTarget>): Promise<Outcome> {
  const { terminal, target, clock } = session;
  const opened = await session.open();
  terminal.showProgress('looking at tables …');
  const tables = await readTables(opened);
  const missing = tables.filter((table) => table.status === undefined);
  if (missing.length > 0) {
    const advice = target.kind === 'stage' ? 'deploy the stage first' : 'apply a gateway file first';
    return {
      json: { store: describeTarget(target), tables: tables.map(tableJson) },
      lines: (style) => tablesLines(tables, style),
      failure: `${missing.length} of ${tables.length} tables are missing: ${advice}`,
    };
  }
  const stores = storesOn(opened.store);
  const nowMs = clock.nowMs();
  terminal.showProgress('reading workspaces …');
  const workspaces = await readHoldsOfWorkspaces(opened.store, stores, nowMs);
  terminal.showProgress('reading keys …');
  const keys = await readKeyFigures(stores.keys);
  terminal.showProgress('reading statistics …');
  const health = await readProviderHealth(opened.store, stores, clock);
  return statusOutcome({ place: describeTarget(target), nowMs: clock.nowMs(), tables, workspaces, keys, health });
}
