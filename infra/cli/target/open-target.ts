// Opens the store that the command line names. Processes that were started for it end with `close`.

import { join } from 'node:path';
import { tableNames } from '../../../shared/foundation/constants/index.ts';
import { folderBlobs } from '../../../shared/storage/blobs/index.ts';
import { hasStoreFile, openSqliteStore } from '../../../shared/storage/sqlite-store/index.ts';
import { readOnly, refuseWrite } from '../../../shared/storage/store/index.ts';
import { blobFolder } from '../../local/data-folder.ts';
import type { Terminal } from '../output/terminal.ts';
import { localWrapper, type OpenTarget } from './open-store.ts';
import { commandCallTimeoutMs, localStage, noTablesIn, type Target } from './target.ts';

export interface OpenOptions {
  /**
   * Whether the command writes. For a stage the account and the region are printed first. Without it every write is
   * refused, and nothing is created or changed on this machine.
   */
  readonly writes?: boolean;
  /**
   * Handling of a folder without a store. Default: refused. 'empty': an empty store is used, and nothing is created.
   */
  readonly missing?: 'refused' | 'made' | 'empty';
}

/** Opens the target. Throws an Error with one line for the operator. */
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
  // These modules are not imported at the head of the file, because they load SDK clients that no command on a folder
  // uses.
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
    // Opening the store created them.
    prepareTables: async () => {},
    describeTables: async () =>
      tableNames.map((table) => ({ table, name: table, status: 'ACTIVE', ...countItems(table) })),
    wrapper: localWrapper(folder, writes),
    blobs: folderBlobs(join(folder, blobFolder)),
    close,
  };
}
