// What takes the place of a bucket, a key or a secret that the environment does not name: each refuses as its port says.

import { type KeyWrapper, SealBroken } from '../configuration/byok/index.ts';
import { readVariable } from '../foundation/environment/index.ts';
import type { ProviderCredentials } from '../routing/providers/index.ts';
import { environmentCredentials } from '../routing/providers/index.ts';
import type { BlobStore } from '../storage/blobs/index.ts';

/** Not the memory of one instance: a replay must not depend on the instance that serves it. */
export const noBlobs: BlobStore = {
  async put() {
    throw new RangeError('there is no bucket: results over the inline limit are not stored');
  },
  get: async () => undefined,
};

/** No stored connection opens. */
export const noKeyWrapper: KeyWrapper = {
  async createDataKey() {
    throw new Error('there is no BYOK key to seal under');
  },
  async unwrap() {
    throw new SealBroken();
  },
};

/** Variables of the process, as in a local run. */
export const variableCredentials = (): ProviderCredentials => environmentCredentials(readVariable);
