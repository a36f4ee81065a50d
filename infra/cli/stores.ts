// The stores of a stage, on its items.
import { createKeyStore, type KeyStore } from '../../shared/auth/index.ts';
import { createConnectionStore, createKeyVault, type KeyWrapper } from '../../shared/byok/index.ts';
import { type CallRecords, createCallRecords } from '../../shared/call-records/index.ts';
import { type CatalogueStore, createCatalogueStore } from '../../shared/catalogue/index.ts';
import { type CreditLedger, createCreditLedger } from '../../shared/credit/index.ts';
import type { RehearsalStores } from '../../shared/gateway-file/index.ts';
import { systemRandomness } from '../../shared/ids/index.ts';
import type { Store } from '../../shared/store/index.ts';
import { createFunctionStore, type FunctionStore } from '../../shared/stored-functions/index.ts';
import { type Clock, systemClock } from '../../shared/time/index.ts';
import { createWorkspaceStore, type WorkspaceStore } from '../../shared/workspaces/index.ts';
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
  credit: createCreditLedger({ store, randomness: systemRandomness }),
  functionStore: createFunctionStore(store),
  records: createCallRecords({ store, clock }),
});

/** With the one that seals keys: for applying a file. */
export function sealingStoresOn(store: Store, stage: string, wrapper: KeyWrapper): RehearsalStores {
  const vault = createKeyVault({ wrapper, stage, clock: operatorClock, randomness: systemRandomness });
  return { ...storesOn(store), connectionStore: createConnectionStore(store, vault) };
}
