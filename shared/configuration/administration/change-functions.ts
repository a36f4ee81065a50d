// Changes stored functions, and makes the transitions that an operator requests. Which transitions are allowed is
// decided next to the records of functions.
import { collect } from '../../foundation/parallel/index.ts';
import type { FunctionRecord, FunctionWithContents } from '../stored-functions/index.ts';
import { ChangeFailed, refuseAs } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'functionStore' | 'clock'>;

interface FunctionName {
  readonly workspace: string;
  readonly id: string;
}

/** A change. `activate` makes a revision the active one, and enables its function. */
type FunctionChange =
  | { readonly kind: 'enable' }
  | { readonly kind: 'disable' }
  | { readonly kind: 'activate'; readonly revision: string };

/** Returns functions of every workspace or of one, sorted by workspace and id. */
export async function readFunctions(
  { functionStore }: Pick<Dependencies, 'functionStore'>,
  workspace?: string,
): Promise<FunctionRecord[]> {
  const records = await collect(functionStore.list(workspace));
  return records.sort((a, b) => (`${a.workspace}/${a.id}` < `${b.workspace}/${b.id}` ? -1 : 1));
}

/** Returns a function with the contents of its revisions. Throws ChangeFailed if there is none. */
export const showFunction = async (
  { functionStore }: Pick<Dependencies, 'functionStore'>,
  name: FunctionName,
): Promise<FunctionWithContents> => present(await functionStore.show(name.workspace, name.id), name);

/** Returns a function. Throws ChangeFailed if there is none. */
export const readFunction = async (
  { functionStore }: Pick<Dependencies, 'functionStore'>,
  name: FunctionName,
): Promise<FunctionRecord> => present(await functionStore.read(name.workspace, name.id), name);

function present<Found>(found: Found | undefined, { workspace, id }: FunctionName): Found {
  if (found === undefined) throw new ChangeFailed('absent', `workspace ${workspace} has no function ${id}`);
  return found;
}

/** Changes a function. Throws ChangeFailed, also if its state does not allow the change. */
export async function changeFunction(
  deps: Dependencies,
  name: FunctionName,
  change: FunctionChange,
): Promise<FunctionRecord> {
  await readFunction(deps, name);
  return carryOut(deps, name, change).catch(refuseAs('invalid'));
}

function carryOut(
  { functionStore, clock }: Dependencies,
  { workspace, id }: FunctionName,
  change: FunctionChange,
): Promise<FunctionRecord> {
  if (change.kind === 'activate') return functionStore.activate(workspace, id, change.revision, clock.nowMs());
  return functionStore[change.kind](workspace, id);
}
