// What a call was for: the tags of its request, overruled by those of its key, so that no client spends in another's name.
import { readKeySettings } from '../../../shared/configuration/keys/index.ts';
import type { Tags } from '../../../shared/protocol/wire/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ReceivedCall } from '../stages.ts';

/** Undefined: none. `keyItem`: as the call saw it; its admission has left the key as it is now in memory. */
export function tagsOf(
  { keyCache }: Pick<GatewayDependencies, 'keyCache'>,
  { credential, tags }: Pick<ReceivedCall, 'credential' | 'tags'>,
  keyItem: Item,
): Tags | undefined {
  const all = { ...tags, ...readKeySettings(keyCache.get(credential.publicId) ?? keyItem).tags };
  return Object.keys(all).length === 0 ? undefined : all;
}
