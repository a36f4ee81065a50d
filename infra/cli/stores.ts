// The stores of a stage, on its items.

import { type CallRecords, createCallRecords } from '../../shared/accounting/call-records/index.ts';
import { type CreditLedger, createCreditLedger } from '../../shared/accounting/credit/index.ts';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { createConnectionStore, createKeyVault, type KeyWrapper } from '../../shared/configuration/byok/index.ts';
import { type CatalogueStore, createCatalogueStore } from '../../shared/configuration/catalogue/index.ts';
import type { RehearsalStores } from '../../shared/configuration/gateway-file/index.ts';
import { createKeyStore, type KeyStore } from '../../shared/configuration/keys/index.ts';
import { createFunctionStore, type FunctionStore } from '../../shared/configuration/stored-functions/index.ts';
import { createWorkspaceStore, type WorkspaceStore } from '../../shared/configuration/workspaces/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { operatorClock } from './operator-clock.ts';

export interface Stores {
  readonly keys: KeyStore;
  readonly catalogues: CatalogueStore;
  readonly workspaceStore: WorkspaceStore;
  readonly credit: CreditLedger;
  readonly functionStore: FunctionStore;
  readonly records: CallRecords;
}

/** `clock` only tells which call records are over. */
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
export function sealingStoresOn(store: Store, stage: string, wrapper: KeyWrapper): RehearsalStores {
  const vault = createKeyVault({ wrapper, stage, clock: operatorClock, randomness: systemRandomness });
  return { ...storesOn(store), connectionStore: createConnectionStore(store, vault) };
}
