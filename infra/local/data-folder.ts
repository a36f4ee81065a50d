// Names the folders for the data of a local run that is not in its tables. Loads nothing, for commands that only need
// the names.
import { resolve } from 'node:path';
import type { LocalOptions } from './start-options.ts';

/**
 * Gateways that share a store must share the key too. If no folder is named, this folder in the working folder contains
 * the key.
 */
const sharedFolder = '.gw';

/** Folder inside the folder of the data. */
export const blobFolder = 'blobs';

export type StoreLocation = Partial<Pick<LocalOptions, 'data' | 'dynamodb'>>;

/** Returns undefined when nothing is stored. */
export const sharedFolderOf = ({ data, dynamodb }: StoreLocation): string | undefined =>
  data ?? (dynamodb === undefined ? undefined : resolve(sharedFolder));
