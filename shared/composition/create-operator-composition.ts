// What the operator function has: the tables that operators read and change, and no more. No provider is called, no credential
// is read, and statistics that are old are counted anew without being stored: its role may not write them.
import { createCooldowns, createStatisticsReader } from '../accounting/provider-health/index.ts';
import { createAdministration } from '../configuration/administration/index.ts';
import { callTimes } from '../foundation/constants/index.ts';
import { systemRandomness } from '../foundation/ids/index.ts';
import { createLog } from '../foundation/log/index.ts';
import { systemClock } from '../foundation/time/index.ts';
import { createDynamoClient, createDynamoStore, withoutWrites } from '../storage/store/index.ts';
import type { TableReadersOptions } from './create-table-readers.ts';

export function createOperatorComposition(options: TableReadersOptions) {
  const { environment, clock = systemClock } = options;
  const { stage, logLevel: level, streamBudgetSeconds, originSecretHashes } = environment;
  const store = options.store ?? createDynamoStore({ client: createDynamoClient(), stage });
  const log = options.log ?? createLog({ clock, stage, level });
  const onFailure = (cause: unknown) => log.error({ event: 'statistics_not_read' }, cause);
  return {
    ...createAdministration({ store, clock, randomness: systemRandomness }),
    times: callTimes(streamBudgetSeconds),
    log,
    store,
    statistics: createStatisticsReader({ store: withoutWrites(store), clock, onFailure }),
    cooldowns: createCooldowns({ store, clock }),
    originSecretHashes,
  };
}
