// Connections as they are stored, their keys sealed, for one instance and the workspaces it served lately. As with
// workspaces, an old copy is never served while the store is down: a connection says whose money is spent.
import { createReadCache } from '../../foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { type Connection, itemKey, readItem } from './connection.ts';

export interface ConnectionList {
  /** At most `configFreshMs` old; empty where there are none. Throws StoreUnavailable. */
  connectionsOf(workspace: string): Promise<readonly Connection[]>;
}

export interface ConnectionListOptions {
  readonly read: (workspace: string) => Promise<readonly Connection[]>;
  readonly clock: Clock;
}

export function createConnectionList({ read, clock }: ConnectionListOptions): ConnectionList {
  const cached = createReadCache<readonly Connection[]>({
    sizeMax: cachedWorkspacesMax,
    freshMs: configFreshMs,
    clock,
  });
  return { connectionsOf: (workspace) => cached.get(workspace, () => read(workspace)) };
}

/** Strongly consistent, one read. Empty for a workspace that has none or does not exist. */
export const readConnections = async (store: Pick<Store, 'get'>, workspace: string): Promise<Connection[]> =>
  readItem(workspace, await store.get('connections', itemKey(workspace)));
