// A revision of a stored function as operators publish it: as in a gateway file, without one.
import type { FunctionDocument, FunctionRecord } from '../stored-functions/index.ts';
import { UnusableRevisions } from '../stored-functions/index.ts';
import { ChangeFailed } from './change-failed.ts';
import type { AdministrationDependencies } from './operator-stores.ts';
import { readWorkspace } from './workspaces.ts';

type Dependencies = Pick<AdministrationDependencies, 'functionStore' | 'workspaceStore' | 'clock'>;

export interface PublishedFunction {
  readonly change: 'created' | 'changed' | 'unchanged';
  readonly record: FunctionRecord;
}

/** Throws ChangeFailed: for a revision that no call could use, and for one that is activated and says something else. */
export async function publishFunction(
  deps: Dependencies,
  workspace: string,
  document: FunctionDocument,
): Promise<PublishedFunction> {
  const { functionStore, clock } = deps;
  await readWorkspace(deps, workspace);
  const change = await functionStore.apply(workspace, document, clock.nowMs()).catch((cause: unknown) => {
    const isRefusal = cause instanceof UnusableRevisions || (cause instanceof Error && cause.name === 'Error');
    if (!isRefusal) throw cause;
    throw new ChangeFailed('invalid', (cause as Error).message, { cause });
  });
  const record = await functionStore.read(workspace, document.id);
  if (record === undefined) throw new ChangeFailed('absent', `workspace ${workspace} has no function ${document.id}`);
  return { change, record };
}
