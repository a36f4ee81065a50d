// What the operator function has: the tables that operators read and change, and no more. No provider is called, no credential
// is read, and statistics that are old are counted anew without being stored: its role may not write them.
import { createCooldowns, createStatisticsReader } from '../accounting/provider-health/index.ts';
import { createAdministration } from '../configuration/administration/index.ts';
import { closedVault, createConnectionStore } from '../configuration/byok/index.ts';
import { withoutWrites } from '../storage/store/index.ts';
import { createTableReaders, type TableReadersOptions } from './create-table-readers.ts';

export function createOperatorComposition(options: TableReadersOptions) {
  const readers = createTableReaders(options);
  const { store, clock, log } = readers;
  const onFailure = (cause: unknown) => log.error({ event: 'statistics_not_read' }, cause);
  return {
    ...readers,
    ...createAdministration(readers),
    connectionStore: createConnectionStore(store, closedVault),
    statistics: createStatisticsReader({ store: withoutWrites(store), clock, onFailure }),
    cooldowns: createCooldowns({ store, clock }),
  };
}
