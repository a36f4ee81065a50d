// All that one process can have: calls, and what operators read and change. For the local run, and for a process that serves all routes.
import { createCreditLedger } from '../accounting/credit/index.ts';
import { type AdministrationDependencies, createAdministration } from '../configuration/administration/index.ts';
import { type ConnectionStore, createConnectionStore, createKeyVault } from '../configuration/byok/index.ts';
import {
  type CompositionOptions,
  createGatewayComposition,
  type GatewayComposition,
} from './create-gateway-composition.ts';

export interface Composition extends Omit<GatewayComposition, 'credit'>, AdministrationDependencies {
  readonly connectionStore: ConnectionStore;
}

export function createComposition(options: CompositionOptions): Composition {
  const gateway = createGatewayComposition(options);
  const { store, clock, randomness, counters, records } = gateway;
  const { wrapper, environment } = options;
  const vault = createKeyVault({ wrapper, stage: environment.stage, clock, randomness });
  return {
    ...createAdministration({ store, clock, randomness }),
    ...gateway,
    records,
    // With the counters of the calls: what waits for one of them goes together with it.
    credit: createCreditLedger({ store, clock, counters, randomness }),
    connectionStore: createConnectionStore(store, vault),
  };
}
