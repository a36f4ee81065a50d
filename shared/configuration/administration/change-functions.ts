// Stored functions, and the transitions that an operator asks for. Which are allowed is decided beside their records.
import { collect } from '../../foundation/parallel/index.ts';
import type { FunctionDocument, FunctionRecord, ShownFunction } from '../stored-functions/index.ts';
import { ChangeFailed, isRefusal } from './change-failed.ts';
import { readWorkspace } from './change-workspaces.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'functionStore' | 'clock'>;

export interface FunctionName {
  readonly workspace: string;
  readonly id: string;
}

/** `activate` makes a revision the one that serves, and the function serve again. */
export type FunctionChange =
  | { readonly kind: 'enable' }
  | { readonly kind: 'disable' }
  | { readonly kind: 'activate'; readonly revision: string };

/** Of every workspace or of one; by workspace and id. */
export async function readFunctions(
  { functionStore }: Pick<Dependencies, 'functionStore'>,
  workspace?: string,
): Promise<FunctionRecord[]> {
  const records = await collect(functionStore.list(workspace));
  return records.sort((a, b) => (`${a.workspace}/${a.id}` < `${b.workspace}/${b.id}` ? -1 : 1));
}

/** With what its revisions hold. Throws ChangeFailed where there is none. */
export const showFunction = async (
  { functionStore }: Pick<Dependencies, 'functionStore'>,
  name: FunctionName,
): Promise<ShownFunction> => present(await functionStore.show(name.workspace, name.id), name);

/** Throws ChangeFailed where there is none. */
export const readFunction = async (
  { functionStore }: Pick<Dependencies, 'functionStore'>,
  name: FunctionName,
): Promise<FunctionRecord> => present(await functionStore.read(name.workspace, name.id), name);

function present<Found>(found: Found | undefined, { workspace, id }: FunctionName): Found {
  if (found === undefined) throw new ChangeFailed('absent', `workspace ${workspace} has no function ${id}`);
  return found;
}

/** Throws ChangeFailed, also where the function is in no state for the change. */
export async function changeFunction(
  deps: Dependencies,
  name: FunctionName,
  change: FunctionChange,
): Promise<FunctionRecord> {
  await readFunction(deps, name);
  return carryOut(deps, name, change).catch(refuseInvalid);
}

const refuseInvalid = (cause: unknown): never => {
  throw isRefusal(cause) ? new ChangeFailed('invalid', cause.message, { cause }) : cause;
};

function carryOut(
  { functionStore, clock }: Dependencies,
  { workspace, id }: FunctionName,
  change: FunctionChange,
): Promise<FunctionRecord> {
  if (change.kind === 'activate') return functionStore.activate(workspace, id, change.revision, clock.nowMs());
  return functionStore[change.kind](workspace, id);
}

interface PublishedFunction {
  readonly change: 'created' | 'changed' | 'unchanged';
  readonly record: FunctionRecord;
}

/** Ids of the models that a function may call: all of them, and those of its workspace where that has not all. */
export async function modelsOfFunctions(
  { catalogues, workspaceStore }: Pick<AdministrationDependencies, 'catalogues' | 'workspaceStore'>,
  workspace: string,
): Promise<{ readonly models: readonly string[]; readonly workspaceModels: readonly string[] | undefined }> {
  const [catalogue, document] = await Promise.all([catalogues.read(), workspaceStore.read(workspace)]);
  const { models: own = 'all' } = document ?? {};
  return {
    models: catalogue?.models.map(({ id }) => id) ?? [],
    workspaceModels: own === 'all' ? undefined : own,
  };
}

interface PublishOptions {
  /** A revision that shall serve does so whether its test cases were passed or not. */
  readonly skipsCases: boolean;
}

/**
 * Throws ChangeFailed: for a revision that no call could use, for one that is activated and says something else, and for one
 * that shall serve and whose test cases were not passed.
 */
export async function publishFunction(
  deps: Dependencies & Pick<AdministrationDependencies, 'workspaceStore'>,
  workspace: string,
  document: FunctionDocument,
  { skipsCases }: PublishOptions,
): Promise<PublishedFunction> {
  const { functionStore, clock } = deps;
  await readWorkspace(deps, workspace);
  const options = { needsQualified: !skipsCases };
  const change = await functionStore.apply(workspace, document, clock.nowMs(), options).catch(refuseInvalid);
  return { change, record: await readFunction(deps, { workspace, id: document.id }) };
}
