// Opens the store that a command works on, with its tables and its keys.
import { type KeyWrapper, localKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { once } from '../../../shared/foundation/cache/index.ts';
import type { TableName } from '../../../shared/foundation/constants/index.ts';
import type { BlobStore } from '../../../shared/storage/blobs/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import type { ShellAccess } from './shell-access.ts';

/** A table as DynamoDB describes it: cheap, and on AWS up to six hours old. */
export interface TableStatus {
  readonly table: TableName;
  /** Name in the account. */
  readonly name: string;
  /** Usually `ACTIVE`; undefined when the table does not exist. */
  readonly status: string | undefined;
  readonly items: number | undefined;
  readonly bytes: number | undefined;
}

export interface OpenTarget {
  readonly stage: string;
  readonly store: Store;
  /**
   * Opens the tables with another suffix, on which a stage worked before. Undefined for a folder, which has no tables
   * with a suffix.
   */
  readonly storeOf?: (suffix: string) => Store;
  /** Describes the tables. Throws the client's error if the server cannot be reached or refuses. */
  describeTables(): Promise<TableStatus[]>;
  /** Creates missing tables of a local store. The tables of a stage belong to its deployment. */
  prepareTables(): Promise<void>;
  /** First characters of the public ids of new keys of the store. Undefined for a local store. */
  readonly cell: string | undefined;
  /** The AWS identity of the shell; undefined for a local store. */
  readonly access: ShellAccess | undefined;
  /**
   * Encrypts the keys of BYOK connections of the store. A command that writes to a local store also creates the master
   * key.
   */
  readonly wrapper: KeyWrapper;
  /** Stored bodies of calls; no request is made before the first reading. */
  readonly blobs: Pick<BlobStore, 'get'>;
  close(): Promise<void>;
}

/** Creates an adapter that encrypts the keys of BYOK connections. */
export const localWrapper = (folder: string | undefined, makesKey: boolean): KeyWrapper =>
  lazyKeyWrapper(() => localKeyWrapper({ folder, makesKey }));

/**
 * Opens the real adapter on first use, because opening it creates a master key on this machine, and most files have no
 * BYOK connection.
 */
function lazyKeyWrapper(open: () => KeyWrapper): KeyWrapper {
  const wrapper = once(open);
  return {
    isShared: false,
    createDataKey: async (context) => wrapper().createDataKey(context),
    unwrap: async (wrapped, context) => wrapper().unwrap(wrapped, context),
  };
}
