// The stores of a stage on its items, and its workspaces.

import { type CallRecords, createCallRecords } from '../../../shared/accounting/call-records/index.ts';
import { type CreditAccount, type CreditLedger, createCreditLedger } from '../../../shared/accounting/credit/index.ts';
import { createCounters } from '../../../shared/accounting/holds/index.ts';
import { createConnectionStore, createKeyVault, type KeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { type CatalogueStore, createCatalogueStore } from '../../../shared/configuration/catalogue/index.ts';
import type { ConfigurationStores } from '../../../shared/configuration/gateway-file/index.ts';
import { createKeyStore, type KeyStore } from '../../../shared/configuration/keys/index.ts';
import { createFunctionStore, type FunctionStore } from '../../../shared/configuration/stored-functions/index.ts';
import {
  createWorkspaceStore,
  type WorkspaceDocument,
  type WorkspaceStore,
} from '../../../shared/configuration/workspaces/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { commandCallTimeoutMs } from './call-timeout.ts';

export interface Stores {
  readonly keys: KeyStore;
  readonly catalogues: CatalogueStore;
  readonly workspaceStore: WorkspaceStore;
  readonly credit: CreditLedger;
  readonly functionStore: FunctionStore;
  readonly records: CallRecords;
}

/** `clock` tells which call records and holds have expired. */
export const storesOn = (store: Store, clock: Clock = systemClock): Stores => ({
  keys: createKeyStore(store),
  catalogues: createCatalogueStore(store),
  workspaceStore: createWorkspaceStore(store),
  credit: createCreditLedger({
    store,
    counters: createCounters({ store, clock, randomness: systemRandomness }),
    randomness: systemRandomness,
  }),
  functionStore: createFunctionStore(store),
  records: createCallRecords({ store, clock }),
});

/** With the one that seals keys: for applying a file. */
export function sealingStoresOn(store: Store, stage: string, wrapper: KeyWrapper): ConfigurationStores {
  const waits = { clock: systemClock, callTimeoutMs: commandCallTimeoutMs };
  const vault = createKeyVault({ wrapper, stage, ...waits, randomness: systemRandomness });
  return { ...storesOn(store), connectionStore: createConnectionStore(store, vault) };
}

/** As the store of workspaces names their items. */
const workspacePrefix = 'WORKSPACE#';

/** All of them by id, or the one that is named. Reads the whole table of configuration for all. */
export async function readWorkspaces(store: Store, id?: string): Promise<WorkspaceDocument[]> {
  const { workspaceStore } = storesOn(store);
  if (id !== undefined) return [await readWorkspace(workspaceStore, id)];
  const ids: string[] = [];
  for await (const { pk } of store.scan('config')) {
    if (String(pk).startsWith(workspacePrefix)) ids.push(String(pk).slice(workspacePrefix.length));
  }
  const documents = await mapParallel(ids.sort(), parallelReads, (known) => workspaceStore.read(known));
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
