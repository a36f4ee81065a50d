// Opens the store that the line names. Processes started for it end with `close`.

import { join } from 'node:path';
import type { KeyWrapper } from '../../../shared/configuration/byok/index.ts';
import { type TableName, tableNames } from '../../../shared/foundation/constants/index.ts';
import { type BlobStore, folderBlobs } from '../../../shared/storage/blobs/index.ts';
import { hasStoreFile, openSqliteStore } from '../../../shared/storage/sqlite-store/index.ts';
import { readOnly, refuseWrite, type Store } from '../../../shared/storage/store/index.ts';
import { blobFolder } from '../../local/data-folder.ts';
import type { Terminal } from '../output/terminal.ts';
import { localWrapper } from './local-wrapper.ts';
import type { ShellAccess } from './shell-access.ts';
import { commandCallTimeoutMs, localStage, noTablesIn, type Target } from './target.ts';

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
  if (target.kind === 'folder') return openFolder(target, writes, missing);
  // Not at the head of the file: they bring SDK clients that no command on a folder uses.
  const { openServer, openStage } = await import('./open-dynamodb.ts');
  return target.kind === 'stage' ? openStage(target, terminal, writes) : openServer(target, writes);
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
