// Workspaces as operators name them.
import type { CreditAccount } from '../../accounting/credit/index.ts';
import { parseUsd } from '../../foundation/money/index.ts';
import { collect } from '../../foundation/parallel/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed } from './change-failed.ts';
import type { OperatorStores } from './operator-stores.ts';

type Stores = Pick<OperatorStores, 'workspaceStore'>;

/** All of them by id, or the one that is named. For all of them the whole table of configuration is read. */
export async function readWorkspaces(stores: Stores, id?: string): Promise<WorkspaceDocument[]> {
  if (id !== undefined) return [await readWorkspace(stores, id)];
  const documents = await collect(stores.workspaceStore.list());
  return documents.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Throws ChangeFailed where there is none of that id. */
export async function readWorkspace({ workspaceStore }: Stores, id: string): Promise<WorkspaceDocument> {
  const document = await workspaceStore.read(id);
  if (document !== undefined) return document;
  throw new ChangeFailed('absent', `there is no workspace ${id}: apply a gateway file that has it`);
}

export const accountOf = ({ id, credit_shards, spend_limit_usd }: WorkspaceDocument): CreditAccount => ({
  workspace: id,
  shards: credit_shards,
  spendLimit: spend_limit_usd === null ? null : (parseUsd(spend_limit_usd) ?? 0n),
});
