// Connections as one instance sees them: a bounded memory of the workspaces it served lately, with sealed keys only. As
// with workspaces, an old copy is never served while the store is down: a connection says whose money is spent.
import { configFreshMs, rememberedWorkspacesMax } from '../names/index.ts';
import type { Clock } from '../time/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { Connection } from './connection.ts';
import type { ConnectionStore } from './connection-store.ts';
import type { KeyVault } from './key-vault.ts';

export interface ConnectionReader {
  /** At most `configFreshMs` old; empty where there are none. Throws StoreUnavailable. */
  connectionsOf(workspace: string): Promise<readonly Connection[]>;
  /**
   * The clear key of a connection whose candidate was chosen: for its header and nothing else. Throws StoreUnavailable,
   * and SealBroken where it cannot open here: then this connection serves nobody until the file is applied again.
   */
  openKey(connection: Connection): Promise<string>;
}

export interface ConnectionReaderOptions {
  readonly connections: Pick<ConnectionStore, 'read'>;
  readonly vault: Pick<KeyVault, 'open'>;
  readonly clock: Clock;
}

interface Remembered {
  /** A promise, so that callers at the same time share one read. */
  readonly connections: Promise<readonly Connection[]>;
  readonly askedAtMs: number;
}

export function createConnectionReader({ connections, vault, clock }: ConnectionReaderOptions): ConnectionReader {
  /** A Map keeps the order of insertion: the first entry is the one that was used longest ago. */
  const remembered = new Map<string, Remembered>();

  function ask(workspace: string): Remembered {
    const asked: Remembered = { connections: connections.read(workspace), askedAtMs: clock.nowMs() };
    asked.connections.catch(() => {
      if (remembered.get(workspace) === asked) remembered.delete(workspace);
    });
    return asked;
  }

  return {
    async connectionsOf(workspace) {
      const known = remembered.get(workspace);
      const isFresh = known !== undefined && clock.nowMs() - known.askedAtMs < configFreshMs;
      const entry = isFresh ? known : ask(workspace);
      remembered.delete(workspace);
      remembered.set(workspace, entry);
      const [oldest] = remembered.keys();
      if (remembered.size > rememberedWorkspacesMax && oldest !== undefined) remembered.delete(oldest);
      return entry.connections;
    },
    async openKey(connection) {
      if (connection.sealed === undefined) throw new SealBroken();
      return vault.open(connection, connection.sealed);
    },
  };
}
