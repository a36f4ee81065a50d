// Connections as one instance sees them: of the workspaces it served lately, with sealed keys only. As with workspaces,
// an old copy is never served while the store is down: a connection says whose money is spent.
import { createReadCache } from '../../foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { Connection } from './connection.ts';
import type { ConnectionStore } from './connection-store.ts';
import type { KeyVault } from './key-vault.ts';

export interface ConnectionReader {
  /** At most `configFreshMs` old; empty where there are none. Throws StoreUnavailable. */
  connectionsOf(workspace: string): Promise<readonly Connection[]>;
  /**
   * The clear key of a connection whose candidate was chosen: for its header and nothing else. Throws StoreUnavailable,
   * and SealBroken where it cannot open here: then this connection serves no call until the file is applied again.
   */
  openKey(connection: Connection): Promise<string>;
}

export interface ConnectionReaderOptions {
  readonly connections: Pick<ConnectionStore, 'read'>;
  readonly vault: Pick<KeyVault, 'open'>;
  readonly clock: Clock;
}

export function createConnectionReader({ connections, vault, clock }: ConnectionReaderOptions): ConnectionReader {
  const cached = createReadCache<readonly Connection[]>({
    sizeMax: cachedWorkspacesMax,
    freshMs: configFreshMs,
    clock,
  });

  return {
    connectionsOf: (workspace) => cached.get(workspace, () => connections.read(workspace)),
    async openKey(connection) {
      if (connection.sealed === undefined) throw new SealBroken();
      return vault.open(connection, connection.sealed);
    },
  };
}
