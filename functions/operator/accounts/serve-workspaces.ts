// Serves the routes below /v1/manage/workspaces: workspaces with their settings, their credit, and additions to the
// credit.
import { readLastShare } from '../../../shared/accounting/alerts/index.ts';
import {
  addCredit,
  changeWorkspace,
  createWorkspace,
  readCredit,
  readWorkspace,
  readWorkspaces,
  type WorkspaceCredit,
} from '../../../shared/configuration/administration/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { settingsOf } from '../../../shared/configuration/workspaces/index.ts';
import { formatUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { instantOf } from '../../../shared/foundation/time/index.ts';
import { mayRead } from '../request/allowed.ts';
import type { RouteWork } from '../request/manage.ts';
import { pageOf } from '../request/pages.ts';
import { lastAlertDocument } from './last-alert-document.ts';

export const listWorkspaces: RouteWork<'GET /workspaces'> = async (deps, { operator, query }) => {
  const seen = (await readWorkspaces(deps)).filter(({ id }) => mayRead(operator, id));
  const { items, next_cursor } = pageOf(seen, query, (workspace) => [workspace.id]);
  const credits = await mapParallel(items, parallelReads, (workspace) => readCredit(deps, workspace));
  return { data: credits.map(workspaceDocument), next_cursor };
};

export const showWorkspace: RouteWork<'GET /workspaces/{id}'> = async (deps, { names }) => ({
  data: workspaceDocument(await readCredit(deps, await readWorkspace(deps, names.id))),
});

export const changeCredit: RouteWork<'POST /workspaces/{id}/credits'> = async (deps, request) => {
  const workspace = request.names.id;
  const { amount_usd: written, id: additionId } = request.body;
  const magnitude = parseUsd(written.replace(/^-/, '')) ?? 0n;
  const amount = written.startsWith('-') ? -magnitude : magnitude;
  const { change, ...credit } = await addCredit(deps, { workspace, amount, id: additionId });
  const amount_usd = formatUsd(amount);
  if (change === 'added') request.tellChange(`credit added: ${amount_usd} USD, id ${additionId}`, workspace);
  return { data: { id: additionId, amount_usd, change, workspace: workspaceDocument(credit) } };
};

export const showCreditHistory: RouteWork<'GET /workspaces/{id}/credits'> = async (deps, { names, query }) => {
  const workspace = names.id;
  await readWorkspace(deps, workspace);
  // The newest grant comes first, because pages sort by the later item, and the first grant is the oldest.
  const { items, next_cursor } = pageOf(
    await deps.credit.additions(workspace),
    query,
    ({ atMs, id }) => [id === null ? '~' : String(Number.MAX_SAFE_INTEGER - (atMs ?? 0)).padStart(16, '0'), id ?? ''],
    ({ id }) => [id],
  );
  const data = items.map(({ id, amount, atMs }): Documents['ManagedAddition'] => ({
    id,
    amount_usd: formatUsd(amount),
    time: atMs === null ? null : instantOf(atMs),
  }));
  return { data, next_cursor };
};

export const makeWorkspace: RouteWork<'POST /workspaces'> = async (deps, request) => {
  const workspace = await createWorkspace(deps, request.body);
  request.tellChange('workspace created', workspace.id);
  return { data: workspaceDocument(await readCredit(deps, workspace)) };
};

export const editWorkspace: RouteWork<'PATCH /workspaces/{id}'> = async (deps, request) => {
  const { id } = request.names;
  const { isChanged, workspace } = await changeWorkspace(deps, { ...request.body, id });
  if (isChanged) request.tellChange('workspace changed', id);
  return { data: workspaceDocument(await readCredit(deps, workspace)) };
};

const workspaceDocument = ({ workspace, summary }: WorkspaceCredit): Documents['ManagedWorkspace'] => ({
  id: workspace.id,
  granted_usd: formatUsd(summary.granted),
  spent_usd: formatUsd(summary.spent),
  held_usd: formatUsd(summary.held),
  available_usd: formatUsd(summary.available),
  under_spend_limit_usd: formatUsd(summary.underSpendLimit),
  last_credit_alert: lastAlertDocument(readLastShare(summary.item)),
  last_limit_alert: lastAlertDocument(readLastShare(summary.item, 'spend limit of the workspace')),
  ...settingsOf(workspace),
});
