// Below /v1/manage/workspaces: workspaces with their settings and their credit, and what is added to it.
import * as z from 'zod/mini';
import {
  addCredit,
  changeWorkspace,
  createWorkspace,
  creditSchema,
  newWorkspaceSchema,
  readCredit,
  readWorkspace,
  readWorkspaces,
  type WorkspaceCredit,
  workspaceChangesSchema,
} from '../../../shared/configuration/administration/index.ts';
import type { ManagedAddition, ManagedWorkspace } from '../../../shared/configuration/management-documents/index.ts';
import { settingsOf } from '../../../shared/configuration/workspaces/index.ts';
import { formatUsd, parseUsd } from '../../../shared/foundation/money/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { mayRead } from '../request/allowed.ts';
import type { Work } from '../request/manage.ts';
import { pageOf, pageParameters } from '../request/pages.ts';
import { readBody, readQuery } from '../request/read-asked.ts';

const parameters = z.strictObject(pageParameters);

export const listWorkspaces: Work = async (deps, request) => {
  const asked = readQuery(request, parameters);
  const seen = (await readWorkspaces(deps)).filter(({ id }) => mayRead(request.operator, id));
  const { items, next_cursor } = pageOf(seen, asked, (workspace) => [workspace.id]);
  const credits = await mapParallel(items, parallelReads, (workspace) => readCredit(deps, workspace));
  return { data: credits.map(workspaceDocument), next_cursor };
};

export const changeCredit: Work = async (deps, request) => {
  const [workspace = ''] = request.pathParameters;
  const { amount_usd: written, id: additionId } = await readBody(request, creditSchema);
  const magnitude = parseUsd(written.replace(/^-/, '')) ?? 0n;
  const amount = written.startsWith('-') ? -magnitude : magnitude;
  const { change, ...credit } = await addCredit(deps, { workspace, amount, id: additionId });
  const amount_usd = formatUsd(amount);
  if (change === 'added') request.tellChange(`credit added: ${amount_usd} USD, id ${additionId}`, workspace);
  return { data: { id: additionId, amount_usd, change, workspace: workspaceDocument(credit) } };
};

export const showCreditHistory: Work = async (deps, request) => {
  const [workspace = ''] = request.pathParameters;
  const asked = readQuery(request, parameters);
  await readWorkspace(deps, workspace);
  // The newest first: pages are ordered by what stands later.
  const { items, next_cursor } = pageOf(await deps.credit.additions(workspace), asked, ({ atMs, id }) => [
    String(Number.MAX_SAFE_INTEGER - atMs).padStart(16, '0'),
    id,
  ]);
  const data = items.map(
    ({ id, amount, atMs }): ManagedAddition => ({
      id,
      amount_usd: formatUsd(amount),
      time: new Date(atMs).toISOString(),
    }),
  );
  return { data, next_cursor };
};

export const makeWorkspace: Work = async (deps, request) => {
  const workspace = await createWorkspace(deps, await readBody(request, newWorkspaceSchema));
  request.tellChange('workspace created', workspace.id);
  return { data: workspaceDocument(await readCredit(deps, workspace)) };
};

export const editWorkspace: Work = async (deps, request) => {
  const [id = ''] = request.pathParameters;
  const { isChanged, workspace } = await changeWorkspace(deps, {
    ...(await readBody(request, workspaceChangesSchema)),
    id,
  });
  if (isChanged) request.tellChange('workspace changed', id);
  return { data: workspaceDocument(await readCredit(deps, workspace)) };
};

const workspaceDocument = ({ workspace, summary }: WorkspaceCredit): ManagedWorkspace => ({
  id: workspace.id,
  granted_usd: formatUsd(summary.granted),
  spent_usd: formatUsd(summary.spent),
  held_usd: formatUsd(summary.held),
  available_usd: formatUsd(summary.available),
  ...settingsOf(workspace),
});
