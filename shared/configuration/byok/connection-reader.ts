// What a call needs of stored connections: which there are, and the clear key of the one that is used.
import type { Clock } from '../../foundation/time/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { Connection } from './connection.ts';
import { type ConnectionList, createConnectionList } from './connection-list.ts';
import type { ConnectionStore } from './connection-store.ts';
import type { KeyVault } from './key-vault.ts';

export interface ConnectionReader extends ConnectionList {
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
  return {
    ...createConnectionList({ read: connections.read, clock }),
    async openKey(connection) {
      if (connection.sealed === undefined) throw new SealBroken();
      return vault.open(connection, connection.sealed);
    },
  };
}
