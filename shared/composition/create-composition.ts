// Creates all dependencies of one process, for calls, and for the reads and changes of operators. Used by the local
// run, and by a process that serves all routes.
import { createCreditLedger } from '../accounting/credit/index.ts';
import { createCooldowns, createStatisticsReader } from '../accounting/provider-health/index.ts';
import { type AdministrationDependencies, createAdministration } from '../configuration/administration/index.ts';
import {
  type ConnectionStore,
  closedVault,
  createConnectionStore,
  createKeyVault,
} from '../configuration/byok/index.ts';
import { withoutWrites } from '../storage/store/index.ts';
import {
  type CompositionOptions,
  createGatewayComposition,
  type GatewayComposition,
} from './create-gateway-composition.ts';
import { createTableReaders, type TableReadersOptions } from './create-table-readers.ts';
import { stageBlobs } from './stage-blobs.ts';

export interface Composition extends Omit<GatewayComposition, 'credit'>, AdministrationDependencies {
  readonly connectionStore: ConnectionStore;
}

export function createComposition(options: CompositionOptions): Composition {
  const gateway = createGatewayComposition(options);
  const { store, clock, randomness, counters, records } = gateway;
  const { wrapper, environment } = options;
  const vault = createKeyVault({ wrapper, stage: environment.stage, clock, randomness });
  return {
    ...createAdministration({ store, clock, randomness, cell: environment.cell }),
    ...gateway,
    records,
    // The ledger shares the counters of the calls, and so their writes.
    credit: createCreditLedger({ store, clock, counters, randomness }),
    connectionStore: createConnectionStore(store, vault),
  };
}

// Creates the dependencies of the operator function, which are the tables that operators read and change, and the
// bodies of calls. No provider is called, no credential is read, and old statistics are counted again without being
// stored, because its role may not write them.
export function createOperatorComposition(options: TableReadersOptions) {
  const readers = createTableReaders(options);
  const { store, clock, log } = readers;
  const onFailure = (cause: unknown) => log.error({ event: 'statistics_not_read' }, cause);
  return {
    ...readers,
    ...createAdministration({ ...readers, cell: options.environment.cell }),
    connectionStore: createConnectionStore(store, closedVault),
    statistics: createStatisticsReader({ store: withoutWrites(store), clock, onFailure }),
    cooldowns: createCooldowns({ store, clock }),
    blobs: stageBlobs(options.environment.aws),
  };
}
