// Creates and changes workspaces for operators: the workspace fields of a gateway file, without presets, connections
// and functions.

import type { CreditAccount } from '../../accounting/credit/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { collect } from '../../foundation/parallel/index.ts';
import type { DocumentWrite } from '../../storage/store/index.ts';
import { resolveListedIds } from '../catalogue/index.ts';
import type { WorkspaceChanges, WorkspaceDocument, WorkspaceStore } from '../workspaces/index.ts';
import { ChangeFailed, refuseAs } from './change-failed.ts';
import type { AdministrationDependencies, OperatorStores } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'workspaceStore' | 'credit' | 'catalogues'>;

/** Creates a workspace. Throws ChangeFailed if the id is taken, or a name means no model of the catalogue. */
export async function createWorkspace(deps: Dependencies, wanted: WorkspaceChanges): Promise<WorkspaceDocument> {
  const models = await modelIdsOf(deps, wanted.models);
  await checkGuardrails(deps, wanted.guardrails);
  if ((await deps.workspaceStore.read(wanted.id)) !== undefined) {
    throw new ChangeFailed('taken', `there is a workspace ${wanted.id} already: give another id`, { param: 'id' });
  }
  await writeWorkspace(deps, undefined, { ...wanted, ...models });
  return readWorkspace(deps, wanted.id);
}

/** Changes a workspace; absent fields keep their stored values. Throws ChangeFailed. */
export async function changeWorkspace(
  deps: Dependencies,
  changes: WorkspaceChanges,
): Promise<{ readonly isChanged: boolean; readonly workspace: WorkspaceDocument }> {
  const former = await readWorkspace(deps, changes.id);
  const models = await modelIdsOf(deps, changes.models);
  await checkGuardrails(deps, changes.guardrails);
  const change = await writeWorkspace(deps, former, { ...changes, ...models });
  return { isChanged: change !== 'unchanged', workspace: await readWorkspace(deps, changes.id) };
}

interface Written {
  readonly workspaceStore: WorkspaceStore;
  readonly credit: Pick<OperatorStores['credit'], 'create'>;
}

/** Makes a workspace, or changes the workspace that was read. */
export async function writeWorkspace(
  { workspaceStore, credit }: Written,
  former: WorkspaceDocument | undefined,
  changes: WorkspaceChanges,
): Promise<DocumentWrite> {
  // The credit is written before the workspace, so that a reader that finds the workspace finds its credit.
  if (former === undefined) await credit.create(changes.id, parseUsd(changes.credit_usd ?? '0') ?? 0n);
  return workspaceStore.write(changes).catch(refuseAs('conflict'));
}

/**
 * Maps a list of models to their ids; other values are returned unchanged. `own` are the models of the workspace, among
 * which a bare name is searched first. Throws ChangeFailed for a name of no model of the catalogue, or of several.
 */
export async function modelIdsOf<Other>(
  { catalogues }: Pick<Dependencies, 'catalogues'>,
  models: readonly string[] | Other,
  workspaceModels?: WorkspaceDocument['models'],
): Promise<{ readonly models?: readonly string[] }> {
  if (!Array.isArray(models)) return {};
  const known = new Set((await catalogues.read())?.models.map(({ id }) => id));
  const idOf = (name: string, index: number): string => {
    const [id = name, ...others] = resolveListedIds(
      name,
      known,
      workspaceModels === 'all' ? undefined : workspaceModels,
    );
    const fault = (message: string) => new ChangeFailed('invalid', message, { param: `models[${index}]` });
    if (others.length > 0) throw fault(`${name} may be one of several models: ${[id, ...others].join(', ')}`);
    if (known.has(id)) return id;
    throw fault(`there is no model ${name} in the catalogue`);
  };
  return { models: models.map(idOf) };
}

/** Throws ChangeFailed for a guardrail that the gateway file does not describe. */
export async function checkGuardrails(
  { catalogues }: Pick<Dependencies, 'catalogues'>,
  ids: readonly string[] | null = [],
): Promise<void> {
  if (ids === null || ids.length === 0) return;
  const known = (await catalogues.read())?.guardrails?.map(({ id }) => id) ?? [];
  const index = ids.findIndex((id) => !known.includes(id));
  if (index === -1) return;
  const message = `there is no guardrail ${ids[index]} in the gateway file`;
  throw new ChangeFailed('invalid', message, { param: `guardrails[${index}]` });
}

type Stores = Pick<OperatorStores, 'workspaceStore'>;

/** Returns all workspaces by id, or the named one. For all of them the whole table of configuration is read. */
export async function readWorkspaces(stores: Stores, id?: string): Promise<WorkspaceDocument[]> {
  if (id !== undefined) return [await readWorkspace(stores, id)];
  const documents = await collect(stores.workspaceStore.list());
  return documents.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the workspace. Throws ChangeFailed if there is none with that id. */
export async function readWorkspace({ workspaceStore }: Stores, id: string): Promise<WorkspaceDocument> {
  const document = await workspaceStore.read(id);
  if (document !== undefined) return document;
  throw new ChangeFailed('absent', noSuchWorkspace(id));
}

export const noSuchWorkspace = (id: string): string =>
  `there is no workspace ${id}: make it, or apply a gateway file that has it`;

export const accountOf = ({ id, credit_shards, spend_limit_usd }: WorkspaceDocument): CreditAccount => ({
  workspace: id,
  shards: credit_shards,
  spendLimit: spend_limit_usd === null ? null : (parseUsd(spend_limit_usd) ?? 0n),
});
