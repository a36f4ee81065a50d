// Where a local run keeps what is beside its tables. Loads nothing, for commands that look there.
import { resolve } from 'node:path';
import type { LocalOptions } from './start-options.ts';

/** Gateways that share a store must share the key too: where no folder is named, this one of the working folder has it. */
const sharedFolder = '.gw';

/** In the folder of the data. */
export const blobFolder = 'blobs';

export type StoreLocation = Partial<Pick<LocalOptions, 'data' | 'dynamodb'>>;

/** Undefined when nothing is kept. */
export const sharedFolderOf = ({ data, dynamodb }: StoreLocation): string | undefined =>
  data ?? (dynamodb === undefined ? undefined : resolve(sharedFolder));
