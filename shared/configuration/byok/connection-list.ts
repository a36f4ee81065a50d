// Reads stored connections, with sealed keys, for one instance and the workspaces that it served recently, and opens
// the key of a connection that a call uses. As with workspaces, an old copy is never served while the store is down,
// because a connection decides whose money is spent.
import { createReadCache } from '../../foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { SealBroken } from './aes-gcm.ts';
import { type Connection, itemKey, readItem } from './connection.ts';
import type { KeyVault } from './key-vault.ts';

export interface ConnectionList {
  /** Returns connections that are at most `configFreshMs` old; empty if there are none. Throws StoreUnavailable. */
  connectionsOf(workspace: string): Promise<readonly Connection[]>;
  /** Returns the connections from memory; undefined if they would have to be read. */
  known(workspace: string): readonly Connection[] | undefined;
}

export interface ConnectionReader extends ConnectionList {
  /**
   * Returns the clear key of a connection whose candidate was chosen. The key is for its header and nothing else.
   * Throws StoreUnavailable, and SealBroken if the key cannot be opened here. The connection then serves no call until
   * the file is applied again.
   */
  openKey(connection: Connection): Promise<string>;
}

export function createConnectionList(store: Pick<Store, 'get'>, clock: Clock): ConnectionList {
  const cached = createReadCache<readonly Connection[]>({
    sizeMax: cachedWorkspacesMax,
    freshMs: configFreshMs,
    clock,
  });
  return {
    connectionsOf: (workspace) => cached.get(workspace, () => readConnections(store, workspace)),
    known: cached.peek,
  };
}

export const createConnectionReader = (list: ConnectionList, vault: Pick<KeyVault, 'open'>): ConnectionReader => ({
  ...list,
  async openKey(connection) {
    if (connection.sealed === undefined) throw new SealBroken();
    return vault.open(connection, connection.sealed);
  },
});

/**
 * Reads the connections with strong consistency, in one read. Empty for a workspace that has none or does not exist.
 */
export const readConnections = async (store: Pick<Store, 'get'>, workspace: string): Promise<Connection[]> =>
  readItem(workspace, await store.get('connections', itemKey(workspace)));
