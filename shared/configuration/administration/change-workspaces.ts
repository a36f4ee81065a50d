// Workspaces that operators make and change: what stands of them in a gateway file, less presets, connections and functions.
import { parseUsd } from '../../foundation/money/index.ts';
import type { WorkspaceChanges, WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';
import { readWorkspace } from './workspaces.ts';

type Dependencies = Pick<AdministrationDependencies, 'workspaceStore' | 'credit' | 'catalogues'>;

/** Throws ChangeFailed where there is one of that id already, or a model is not in the catalogue. */
export async function createWorkspace(deps: Dependencies, wanted: WorkspaceChanges): Promise<WorkspaceDocument> {
  await checkModels(deps, wanted);
  if ((await deps.workspaceStore.read(wanted.id)) !== undefined) {
    throw new ChangeFailed('taken', `there is a workspace ${wanted.id} already: give another id`, { param: 'id' });
  }
  // Credit before the workspace: a reader that finds the workspace finds its credit.
  await deps.credit.create(wanted.id, parseUsd(wanted.credit_usd ?? '0') ?? 0n);
  await deps.workspaceStore.write(wanted);
  return readWorkspace(deps, wanted.id);
}

/** What is left out stays as it is stored. Throws ChangeFailed. */
export async function changeWorkspace(
  deps: Dependencies,
  changes: WorkspaceChanges,
): Promise<{ readonly isChanged: boolean; readonly workspace: WorkspaceDocument }> {
  await readWorkspace(deps, changes.id);
  await checkModels(deps, changes);
  const isChanged = (await deps.workspaceStore.write(changes)) !== 'unchanged';
  return { isChanged, workspace: await readWorkspace(deps, changes.id) };
}

async function checkModels({ catalogues }: Dependencies, { models }: WorkspaceChanges): Promise<void> {
  if (models === undefined || models === 'all') return;
  const known = new Set((await catalogues.read())?.models.map(({ id }) => id));
  const unknown = models.find((id) => !known.has(id));
  if (unknown !== undefined) throw new ChangeFailed('invalid', `there is no model ${unknown} in the catalogue`);
}
