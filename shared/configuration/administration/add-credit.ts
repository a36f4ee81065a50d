// Reads the credit of workspaces, and adds or removes credit for an operator.
import type { CreditSummary } from '../../accounting/credit/index.ts';
import { formatUsd, type PicoUsd } from '../../foundation/money/index.ts';
import { mapParallel, parallelReads } from '../../foundation/parallel/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed, refuseUnanswered } from './change-failed.ts';
import { accountOf, readWorkspace, readWorkspaces } from './change-workspaces.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Dependencies = Pick<AdministrationDependencies, 'workspaceStore' | 'credit' | 'clock'>;

export interface WorkspaceCredit {
  readonly workspace: WorkspaceDocument;
  readonly summary: CreditSummary;
}

/** Returns the credit of every workspace by id, or of the named one. */
export const readCredits = async (
  deps: Pick<Dependencies, 'workspaceStore' | 'credit'>,
  workspace?: string,
): Promise<WorkspaceCredit[]> =>
  mapParallel(await readWorkspaces(deps, workspace), parallelReads, (document) => readCredit(deps, document));

export const readCredit = async ({ credit }: Pick<Dependencies, 'credit'>, workspace: WorkspaceDocument) => ({
  workspace,
  summary: await credit.show(accountOf(workspace)),
});

interface CreditAddition {
  readonly workspace: string;
  /** Amount; below 0 it removes credit, but never reserved or spent credit. */
  readonly amount: PicoUsd;
  /** Id of the addition. The same id adds once within 30 days. */
  readonly id: string;
}

/** Adds or removes credit. Throws ChangeFailed. */
export async function addCredit(
  deps: Dependencies,
  { workspace, amount, id }: CreditAddition,
): Promise<WorkspaceCredit & { readonly change: 'added' | 'unchanged' }> {
  const document = await readWorkspace(deps, workspace);
  const addition = { workspace, shards: document.credit_shards, amount, id, nowMs: deps.clock.nowMs() };
  const unanswered = refuseUnanswered(`repeat with --id ${id}, which adds once`);
  const result = await deps.credit.add(addition).catch(unanswered);
  if (result === 'absent') {
    throw new ChangeFailed('absent', `workspace ${workspace} has no credit account: apply its gateway file again`);
  }
  if (result === 'other_amount') {
    throw new ChangeFailed('conflict', `the addition ${id} was made before, of another amount`);
  }
  const credit = await readCredit(deps, document);
  if (result === 'insufficient') {
    const available = formatUsd(credit.summary.available);
    const message = `nothing was removed: ${available} USD are neither spent nor reserved by running calls`;
    throw new ChangeFailed('insufficient', message);
  }
  return { ...credit, change: result === 'added' ? 'added' : 'unchanged' };
}
