// Defines the stores for operators' changes. A composition has all of them, and the command line creates them on the
// store that its arguments name.
import { type CallRecords, createCallRecords } from '../../accounting/call-records/index.ts';
import { type CreditLedger, createCreditLedger } from '../../accounting/credit/index.ts';
import { createCounters } from '../../accounting/holds/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { type AccessStore, createAccessStore } from '../access/index.ts';
import { type CatalogueStore, createCatalogueStore } from '../catalogue/index.ts';
import { createKeyStore, createOperatorStore, type KeyStore, type OperatorStore } from '../keys/index.ts';
import { createFunctionStore, type FunctionStore } from '../stored-functions/index.ts';
import { createWorkspaceStore, type WorkspaceStore } from '../workspaces/index.ts';

export interface OperatorStores {
  readonly keys: KeyStore;
  readonly operators: OperatorStore;
  readonly catalogues: CatalogueStore;
  readonly workspaceStore: WorkspaceStore;
  readonly credit: CreditLedger;
  readonly functionStore: FunctionStore;
  readonly records: CallRecords;
  readonly access: AccessStore;
}

export interface AdministrationDependencies extends OperatorStores {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Cell of the stage, with which its public ids begin; absent for a local gateway. */
  readonly cell?: string | undefined;
}

interface AdministrationOptions {
  readonly store: Store;
  /** Clock, which also determines which call records and reservations have expired. */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly cell?: string | undefined;
}

export function createAdministration({
  store,
  clock,
  randomness,
  cell,
}: AdministrationOptions): AdministrationDependencies {
  const counters = createCounters({ store, clock, randomness });
  return {
    clock,
    randomness,
    cell,
    keys: createKeyStore(store),
    operators: createOperatorStore(store),
    catalogues: createCatalogueStore(store),
    workspaceStore: createWorkspaceStore(store),
    credit: createCreditLedger({ store, clock, counters, randomness }),
    functionStore: createFunctionStore(store),
    records: createCallRecords({ store, clock }),
    access: createAccessStore(store),
  };
}
