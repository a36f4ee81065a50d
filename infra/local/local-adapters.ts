// What stands outside the store in a local run: large results, the key that wraps BYOK keys, provider credentials.
import { join, resolve } from 'node:path';
import { localCredentials } from '../../shared/aws/index.ts';
import { folderBlobs, memoryBlobs } from '../../shared/blobs/index.ts';
import { localKeyWrapper } from '../../shared/byok/index.ts';
import type { RuntimeOptions } from '../../shared/runtime/index.ts';
import { systemClock } from '../../shared/time/index.ts';
import type { LocalOptions } from './options.ts';

/** Gateways that share a store must share these too: where no folder is named, this one of the working folder serves. */
const sharedFolder = '.gw';

export function localAdapters({
  data,
  dynamodb,
}: Pick<LocalOptions, 'data' | 'dynamodb'>): Pick<RuntimeOptions, 'blobs' | 'wrapper' | 'credentials'> {
  const folder = data ?? (dynamodb === undefined ? undefined : resolve(sharedFolder));
  return {
    blobs: folder === undefined ? memoryBlobs() : folderBlobs(join(folder, 'blobs')),
    wrapper: localKeyWrapper({ folder }),
    credentials: localCredentials(systemClock),
  };
}
