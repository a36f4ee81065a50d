// Workspaces with their limits, their credit, and what calls that run now hold of it.
import type { CreditSummary } from '../../shared/accounting/credit/index.ts';
import type { WorkspaceDocument } from '../../shared/configuration/workspaces/index.ts';
import { leaseMs } from '../../shared/foundation/constants/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { mapParallel } from './parallel.ts';
import type { Stores } from './stores.ts';
import { accountOf, listWorkspaces } from './workspaces.ts';

export interface WorkspaceHolds {
  readonly workspace: WorkspaceDocument;
  readonly summary: CreditSummary;
  /** Holds of calls that may still be running. */
  readonly openHolds: number;
  /** Since the arrival of the oldest of them. */
  readonly oldestAgeMs: number | undefined;
  /** Of calls that died: the next call of the workspace gives them back. */
  readonly expiredHolds: number;
}

const parallelReads = 16;

export async function readHoldsOfWorkspaces(
  store: Pick<Store, 'scan'>,
  { workspaceStore, credit }: Pick<Stores, 'workspaceStore' | 'credit'>,
  nowMs: number,
): Promise<WorkspaceHolds[]> {
  const workspaces = await listWorkspaces(store, workspaceStore);
  return mapParallel(workspaces, parallelReads, async (workspace) => {
    const summary = await credit.show(accountOf(workspace));
    // One of amount 0 was given back; it only keeps its place for an owner that is late.
    const holds = summary.holds.filter(({ amount }) => amount > 0n);
    const open = holds.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    // A hold lasts a lease from the arrival of its call.
    const oldest = Math.min(...open.map(({ expiresAtMs }) => expiresAtMs - leaseMs));
    return {
      workspace,
      summary,
      openHolds: open.length,
      oldestAgeMs: open.length === 0 ? undefined : Math.max(0, nowMs - oldest),
      expiredHolds: holds.length - open.length,
    };
  });
}
