// Adapters outside the store in a local run: large results, the key that wraps BYOK keys, provider credentials.
import { join } from 'node:path';
import type { CompositionOptions } from '../../shared/composition/index.ts';
import { localCredentials } from '../../shared/composition/index.ts';
import { localKeyWrapper } from '../../shared/configuration/byok/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { folderBlobs, memoryBlobs, tableBlobs } from '../../shared/storage/blobs/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { blobFolder, type StoreLocation, sharedFolderOf } from './data-folder.ts';

/** `shared`: the store of a server that other gateways use too. They find large results there, wherever they run. */
export function localAdapters(
  place: StoreLocation,
  shared?: Store,
): Pick<CompositionOptions, 'blobs' | 'wrapper' | 'credentials' | 'joinsWrites'> {
  const folder = sharedFolderOf(place);
  const ownBlobs = () => (folder === undefined ? memoryBlobs() : folderBlobs(join(folder, blobFolder)));
  return {
    blobs: shared === undefined ? ownBlobs() : tableBlobs(shared, systemClock),
    wrapper: localKeyWrapper({ folder }),
    credentials: localCredentials(systemClock),
    // For SQLite; a server runs each write by itself.
    joinsWrites: place.dynamodb === undefined,
  };
}
