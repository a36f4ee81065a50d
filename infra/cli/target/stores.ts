// Opens stores for commands, on the store that the command line names.
import type { ManagementDependencies } from '../../../functions/operator/dependencies.ts';
import { createCooldowns, createStatisticsReader } from '../../../shared/accounting/provider-health/index.ts';
import {
  type AdministrationDependencies,
  createAdministration,
} from '../../../shared/configuration/administration/index.ts';
import { createConnectionStore, createKeyVault } from '../../../shared/configuration/byok/index.ts';
import type { ConfigurationStores } from '../../../shared/configuration/gateway-file/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { type Store, withoutWrites } from '../../../shared/storage/store/index.ts';
import type { Session } from '../args/session.ts';
import type { OpenTarget } from './open-store.ts';
import type { OpenOptions } from './open-target.ts';
import { commandCallTimeoutMs } from './target.ts';

export async function openAdministration(
  { open, clock, randomness }: Session,
  options?: OpenOptions,
): Promise<AdministrationDependencies> {
  const { store, cell } = await open(options);
  return createAdministration({ store, clock, randomness, cell });
}

/** Opens the parts for a request of the management interface, made in this process. */
export async function openManagement(session: Session, options?: OpenOptions): Promise<ManagementDependencies> {
  const administration = await openAdministration(session, options);
  const opened = await session.open(options);
  const { store } = opened;
  const { clock } = session;
  return {
    ...administration,
    store,
    blobs: opened.blobs,
    connectionStore: sealingStoresOn(store, opened).connectionStore,
    statistics: createStatisticsReader({ store: withoutWrites(store), clock }),
    cooldowns: createCooldowns({ store, clock }),
  };
}

/** Opens the stores with the adapter that encrypts keys, for applying a file. */
export function sealingStoresOn(
  store: Store,
  { stage, wrapper, cell }: Pick<OpenTarget, 'stage' | 'wrapper' | 'cell'>,
): ConfigurationStores {
  const waits = { clock: systemClock, callTimeoutMs: commandCallTimeoutMs };
  const vault = createKeyVault({ wrapper, stage, ...waits, randomness: systemRandomness });
  const stores = createAdministration({ store, clock: systemClock, randomness: systemRandomness, cell });
  return { ...stores, connectionStore: createConnectionStore(store, vault) };
}
