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

export interface PublishOptions {
  /** A revision that shall serve does so whether its test cases were passed or not. */
  readonly skipsCases: boolean;
}

/**
 * Throws ChangeFailed: for a revision that no call could use, for one that is activated and says something else, and for one
 * that shall serve and whose test cases were not passed.
 */
export async function publishFunction(
  deps: Dependencies,
  workspace: string,
  document: FunctionDocument,
  { skipsCases }: PublishOptions,
): Promise<PublishedFunction> {
  const { functionStore, clock } = deps;
  await readWorkspace(deps, workspace);
  const applied = functionStore.apply(workspace, document, clock.nowMs(), { needsQualified: !skipsCases });
  const change = await applied.catch((cause: unknown) => {
    const isRefusal = cause instanceof UnusableRevisions || (cause instanceof Error && cause.name === 'Error');
    if (!isRefusal) throw cause;
    throw new ChangeFailed('invalid', (cause as Error).message, { cause });
  });
  const record = await functionStore.read(workspace, document.id);
  if (record === undefined) throw new ChangeFailed('absent', `workspace ${workspace} has no function ${document.id}`);
  return { change, record };
}
