// The workspaces of a stage, and the credit account of each.
import type { CreditAccount } from '../../shared/accounting/credit/index.ts';
import type { WorkspaceDocument, WorkspaceStore } from '../../shared/configuration/workspaces/index.ts';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { mapParallel } from './parallel.ts';

const parallelReads = 16;
/** As the store of workspaces names their items. */
const workspacePrefix = 'WORKSPACE#';

/** By id. Reads the whole table of configuration: for the operator only. */
export async function listWorkspaces(
  store: Pick<Store, 'scan'>,
  workspaces: Pick<WorkspaceStore, 'read'>,
): Promise<WorkspaceDocument[]> {
  const ids: string[] = [];
  for await (const { pk } of store.scan('config')) {
    if (String(pk).startsWith(workspacePrefix)) ids.push(String(pk).slice(workspacePrefix.length));
  }
  const documents = await mapParallel(ids.sort(), parallelReads, (id) => workspaces.read(id));
  return documents.filter((document) => document !== undefined);
}

/** Throws an Error for the operator when there is none of that id. */
export async function readWorkspace(workspaces: Pick<WorkspaceStore, 'read'>, id: string): Promise<WorkspaceDocument> {
  const document = await workspaces.read(id);
  if (document === undefined) throw new Error(`there is no workspace ${id}: apply a gateway file that has it`);
  return document;
}

export const accountOf = ({ id, credit_shards, spend_limit_usd }: WorkspaceDocument): CreditAccount => ({
  workspace: id,
  shards: credit_shards,
  spendLimit: spend_limit_usd === null ? null : (parseUsd(spend_limit_usd) ?? 0n),
});
