// Applies files to an embedded DynamoDB, as an operator does.

import { createCreditLedger } from '../../../shared/accounting/credit/index.ts';
import { createCounters } from '../../../shared/accounting/holds/index.ts';
import { createAccessStore } from '../../../shared/configuration/access/index.ts';
import { createConnectionStore, createKeyVault, localKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { createCatalogueStore } from '../../../shared/configuration/catalogue/index.ts';
import {
  type ApplyReport,
  applyGatewayFile,
  type GatewayFilePlan,
  type PlannedChange,
  planGatewayFile,
} from '../../../shared/configuration/gateway-file/index.ts';
import { createKeyStore } from '../../../shared/configuration/keys/index.ts';
import { createFunctionStore } from '../../../shared/configuration/stored-functions/index.ts';
import { createWorkspaceStore } from '../../../shared/configuration/workspaces/index.ts';
import { type Randomness, systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { fileOf } from './example-file.ts';

const vault = createKeyVault({
  wrapper: localKeyWrapper(),
  stage: 'test',
  clock: systemClock,
  randomness: systemRandomness,
});

/** Returns the credit ledger of a gateway process at the time of the tests. */
export function creditOn(store: Store, randomness: Randomness = systemRandomness) {
  const clock = manualClock();
  return createCreditLedger({ store, clock, counters: createCounters({ store, clock, randomness }), randomness });
}

export const storesOn = (store: Store) => ({
  catalogues: createCatalogueStore(store),
  workspaceStore: createWorkspaceStore(store),
  keys: createKeyStore(store),
  credit: creditOn(store),
  connectionStore: createConnectionStore(store, vault),
  functionStore: createFunctionStore(store),
  access: createAccessStore(store),
});

const optionsFor = (text: string) => ({
  file: fileOf(text),
  readVariable: (name: string) => (name === 'ACME_BYOK' ? 'acme-key-of-the-workspace' : undefined),
  randomness: systemRandomness,
  nowMs: 1_800_000_000_000,
});

export const applyTo = (store: Store, text: string): Promise<ApplyReport> =>
  applyGatewayFile({ ...optionsFor(text), stores: storesOn(store) });

/** Returns the plan of a dry run. */
export const planOn = (store: Store, text: string): Promise<GatewayFilePlan> =>
  planGatewayFile({ ...optionsFor(text), stores: storesOn(store) });

/** Returns every change except `unchanged`. */
export const changedResources = ({ changes }: { readonly changes: readonly PlannedChange[] }): string[] =>
  changes.filter(({ change }) => change !== 'unchanged').map(({ resource, change }) => `${resource}: ${change}`);
