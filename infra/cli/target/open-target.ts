// Opens the store that the line names. Processes started for it end with `close`.

import { join } from 'node:path';
import { DescribeTableCommand, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { type KeyWrapper, kmsKeyWrapper, localKeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { once } from '../../../shared/foundation/cache/index.ts';
import { type TableName, tableNames, tableNaming } from '../../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { mapParallel, parallelReads } from '../../../shared/foundation/parallel/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import { type BlobStore, folderBlobs, s3Blobs, tableBlobs } from '../../../shared/storage/blobs/index.ts';
import { hasStoreFile, openSqliteStore } from '../../../shared/storage/sqlite-store/index.ts';
import {
  createDynamoClient,
  createDynamoStore,
  type DynamoClient,
  readOnly,
  refuseWrite,
  type Store,
} from '../../../shared/storage/store/index.ts';
import { connectionKeyAlias, defaultCell, spillBucketName } from '../../cdk/resource-names.ts';
import { createTables } from '../../local/create-tables.ts';
import { blobFolder, sharedFolderOf } from '../../local/data-folder.ts';
import type { Terminal } from '../output/terminal.ts';
import type { ShellAccess } from './shell-access.ts';
import { commandCallTimeoutMs, localStage, noTablesIn, type StageTarget, type Target } from './target.ts';

export interface OpenOptions {
  /**
   * The command writes. For a stage the account and the region are printed first. Without it every write is refused, and
   * nothing is made or changed on this machine.
   */
  readonly writes?: boolean;
  /**
   * Handling of a folder without a store. Default: refused. 'empty': an empty store is used, and nothing is created.
   */
  readonly missing?: 'refused' | 'made' | 'empty';
}

/** A table as DynamoDB describes it: cheap, and on AWS up to six hours old. */
export interface TableStatus {
  readonly table: TableName;
  /** Name in the account. */
  readonly name: string;
  /** Usually `ACTIVE`; undefined when there is no such table. */
  readonly status: string | undefined;
  readonly items: number | undefined;
  readonly bytes: number | undefined;
}

export interface OpenTarget {
  readonly stage: string;
  readonly store: Store;
  /**
   * Reads the tables with another suffix, on which a stage worked before. Undefined for a folder, which has no others.
   */
  readonly storeOf?: (suffix: string) => Store;
  /** Throws the client's error where the server cannot be reached or refuses. */
  describeTables(): Promise<TableStatus[]>;
  /** Creates missing tables of a local store; those of a stage belong to its deployment. */
  prepareTables(): Promise<void>;
  /** Characters with which the public ids of keys made there begin. Undefined for a local store. */
  readonly cell: string | undefined;
  /** The AWS identity of the shell; undefined for a local store. */
  readonly access: ShellAccess | undefined;
  /**
   * Encrypts the keys of BYOK connections there. A command that writes creates the master key of a local store with it.
   */
  readonly wrapper: KeyWrapper;
  /** Bodies of calls there. Nothing is called before the first reading. */
  readonly blobs: Pick<BlobStore, 'get'>;
  close(): Promise<void>;
}

/** Throws an Error with one line for the operator. */
export async function openTarget(
  target: Target,
  terminal: Pick<Terminal, 'writeError'>,
  { writes = false, missing = 'refused' }: OpenOptions = {},
): Promise<OpenTarget> {
  const opened = await open(target, terminal, writes, missing);
  return writes ? opened : { ...opened, store: readOnly(opened.store), prepareTables: refuseWrite };
}

async function open(
  target: Target,
  terminal: Pick<Terminal, 'writeError'>,
  writes: boolean,
  missing: OpenOptions['missing'],
): Promise<OpenTarget> {
  if (target.kind === 'stage') return openStage(target, terminal, writes);
  return target.kind === 'server' ? openServer(target, writes) : openFolder(target, writes, missing);
}

async function openStage(
  target: StageTarget,
  terminal: Pick<Terminal, 'writeError'>,
  writes: boolean,
): Promise<OpenTarget> {
  const { stage } = target;
  // Not at the head of the file: it brings SDK clients that no local command uses.
  const { readAccount, readShellAccess } = await import('./shell-access.ts');
  // Signing in may take seconds, longer than a call to the store may wait; a failure to sign in shows here.
  const access = await readShellAccess(target);
  if (writes) {
    const { id } = await readAccount(access);
    terminal.writeError(`stage ${stage}: account ${id}, region ${access.region}`);
  }
  const { stageSettings } = await import('../../cdk/stage-settings.ts');
  const settings = stageSettings[stage];
  const client = createDynamoClient(access);
  return {
    ...opened(client, stage, settings?.tableSuffix),
    cell: settings?.cell ?? defaultCell,
    access,
    prepareTables: async () => {},
    wrapper: stageKeyWrapper(access, stage),
    blobs: stageBucket(access, stage),
    close: async () => client.destroy(),
  };
}

/** The account is asked for with the first reading: its id is part of the bucket's name. */
const stageBucket = (access: ShellAccess, stage: string): Pick<BlobStore, 'get'> => ({
  async get(key) {
    const { readAccount } = await import('./shell-access.ts');
    const bucket = spillBucketName(stage, (await readAccount(access)).id, access.region);
    return s3Blobs({ access, randomness: systemRandomness, bucket, isBucketInPath: false }).get(key);
  },
});

function openServer({ url, stage }: Extract<Target, { readonly kind: 'server' }>, writes: boolean): OpenTarget {
  const client = createDynamoClient({ endpoint: url });
  return {
    ...opened(client, stage),
    cell: undefined,
    access: undefined,
    prepareTables: () => createTables(client, stage),
    wrapper: localWrapper(sharedFolderOf({ dynamodb: url }), writes),
    blobs: tableBlobs(createDynamoStore({ client, stage, callTimeoutMs: commandCallTimeoutMs }), systemClock),
    close: async () => client.destroy(),
  };
}

async function openFolder(
  target: Extract<Target, { readonly kind: 'folder' }>,
  writes: boolean,
  missing: OpenOptions['missing'],
): Promise<OpenTarget> {
  const { folder } = target;
  const hasFolder = missing === 'made' || hasStoreFile(folder);
  if (!hasFolder && missing === 'refused') throw new Error(noTablesIn(target));
  const storeFolder = hasFolder ? folder : undefined;
  const { store, countItems, close } = await openSqliteStore({
    folder: storeFolder,
    callTimeoutMs: commandCallTimeoutMs,
  });
  return {
    stage: localStage,
    cell: undefined,
    store,
    access: undefined,
    // Opening it made them.
    prepareTables: async () => {},
    describeTables: async () =>
      tableNames.map((table) => ({ table, name: table, status: 'ACTIVE', ...countItems(table) })),
    wrapper: localWrapper(folder, writes),
    blobs: folderBlobs(join(folder, blobFolder)),
    close,
  };
}

const localWrapper = (folder: string | undefined, makesKey: boolean): KeyWrapper =>
  lazyKeyWrapper(() => localKeyWrapper({ folder, makesKey }));

function opened(
  client: DynamoClient,
  stage: string,
  tableSuffix?: string,
): Pick<OpenTarget, 'stage' | 'store' | 'describeTables' | 'storeOf'> {
  const nameOf = tableNaming(stage, tableSuffix);
  const storeOf = (suffix: string | undefined) =>
    createDynamoStore({ client, stage, tableSuffix: suffix, callTimeoutMs: commandCallTimeoutMs });
  return {
    stage,
    store: storeOf(tableSuffix),
    storeOf: (suffix) => readOnly(storeOf(suffix)),
    describeTables: () =>
      mapParallel(tableNames, parallelReads, (table) => describeTable(client, nameOf(table), table)),
  };
}

async function describeTable(client: DynamoClient, name: string, table: TableName): Promise<TableStatus> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return { table, name, status: Table?.TableStatus, items: Table?.ItemCount, bytes: Table?.TableSizeBytes };
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    return { table, name, status: undefined, items: undefined, bytes: undefined };
  }
}

// The wrapper that encrypts the keys of BYOK connections.

/** The KMS key of a stage, used with the credentials of the shell. Calls nothing yet. */
export const stageKeyWrapper = (access: ShellAccess, stage: string): KeyWrapper =>
  kmsKeyWrapper({ access, randomness: systemRandomness, keyId: connectionKeyAlias(stage) });

/**
 * Opens the real one on first use: most files have no BYOK connection, and opening it creates a master key on this
 * machine.
 */
function lazyKeyWrapper(open: () => KeyWrapper): KeyWrapper {
  const wrapper = once(open);
  return {
    isShared: false,
    createDataKey: async (context) => wrapper().createDataKey(context),
    unwrap: async (wrapped, context) => wrapper().unwrap(wrapped, context),
  };
}
