// What stands outside the store in a local run: large results, the key that wraps BYOK keys, provider credentials.
import { join, resolve } from 'node:path';
import type { CompositionOptions } from '../../shared/composition/index.ts';
import { localCredentials } from '../../shared/composition/index.ts';
import { localKeyWrapper } from '../../shared/configuration/byok/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { folderBlobs, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import type { LocalOptions } from './start-options.ts';

/** Gateways that share a store must share these too: where no folder is named, this one of the working folder serves. */
const sharedFolder = '.gw';

type Place = Partial<Pick<LocalOptions, 'data' | 'dynamodb'>>;

/** Undefined: nothing is kept. */
export const sharedFolderOf = ({ data, dynamodb }: Place): string | undefined =>
  data ?? (dynamodb === undefined ? undefined : resolve(sharedFolder));

export function localAdapters({
  data,
  dynamodb,
}: Place): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials'> {
  const folder = sharedFolderOf({ data, dynamodb });
  return {
    blobs: folder === undefined ? memoryBlobs() : folderBlobs(join(folder, 'blobs')),
    wrapper: localKeyWrapper({ folder }),
    credentials: localCredentials(systemClock),
  };
}
