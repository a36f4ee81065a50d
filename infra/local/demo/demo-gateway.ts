// Prepares the demo: a gateway that works offline on simulated providers, and on every well-known provider whose key is
// in the environment.
import type { Composition } from '../../../shared/composition/index.ts';
import { createApiKey, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { demoGatewayFile, demoWorkspaceId, isDemoCatalogue, publishedKey } from './demo-file.ts';
import { knownProviders } from './known-providers.ts';

type Stores = Pick<Composition, 'catalogues' | 'workspaceStore' | 'keys' | 'randomness'>;

interface Demo {
  /** Text of a gateway file. */
  readonly text: string;
  readonly key: string;
  readonly notes: readonly string[];
}

const publishedPublicId = parseApiKey(publishedKey)?.publicId ?? '';
const randomKeyName = 'demo-random';

/** Returns whether the store is empty or contains only the demo. Any other store is served unchanged. */
export async function isDemoStore({ catalogues, workspaceStore }: Stores): Promise<boolean> {
  for await (const { id } of workspaceStore.list()) if (id !== demoWorkspaceId) return false;
  const document = await catalogues.read();
  return document === undefined || isDemoCatalogue(document);
}

/**
 * Plans the demo. The published key is used only while every provider is simulated, and not once it was revoked;
 * otherwise a new key is created at each start.
 */
export async function planDemo(
  { workspaceStore, keys, randomness }: Stores,
  simulatorUrlOf: (provider: string) => string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Demo> {
  const real = knownProviders.filter(({ variable }) => (variables[variable] ?? '') !== '');
  const published = await keys.read(publishedPublicId);
  const isRandom = real.length > 0 || published?.status === 'revoked';
  const key = isRandom ? { name: randomKeyName, key: createApiKey(randomness) } : { name: 'demo', key: publishedKey };
  const isNew = (await workspaceStore.read(demoWorkspaceId)) === undefined;
  const text = demoGatewayFile({ simulatorUrlOf, real, key, isNew });
  const names = real.map(({ provider }) => provider.display_name).join(', ');
  const notes =
    real.length > 0
      ? [`${names} can be called, so the demo key is made anew at each start`]
      : isRandom
        ? ['the published demo key was revoked and stays revoked: another one is made']
        : [];
  return { text, key: key.key, notes };
}

export interface ProviderAddress {
  readonly id: string;
  readonly base_url: string;
}

/**
 * Revokes the published key once a call can reach a provider that this process does not simulate. Returns a line if it
 * revoked the key.
 */
export async function revokePublishedKey(
  { keys, catalogue, credentials }: Composition,
  isSimulated: (provider: ProviderAddress) => boolean,
): Promise<string[]> {
  await credentials.ready();
  const providers = [...(await catalogue.current()).providers.values()];
  const isReal = providers.some((provider) => !isSimulated(provider) && credentials.find(provider) !== undefined);
  return isReal ? revokePublished(keys) : [];
}

/**
 * Revokes the published key before a file that adds a provider is applied to a local store, which a running demo may
 * serve. While the key was active, all providers were simulated.
 */
export async function revokeBeforeNewProviders(
  { keys, catalogues }: Pick<Stores, 'keys' | 'catalogues'>,
  providers: readonly ProviderAddress[],
): Promise<string[]> {
  const before = (await catalogues.read())?.providers ?? [];
  const isKnown = ({ id, base_url }: ProviderAddress) =>
    before.some((known) => known.id === id && known.base_url === base_url);
  return providers.every(isKnown) ? [] : revokePublished(keys);
}

async function revokePublished(keys: Stores['keys']): Promise<string[]> {
  const record = await keys.read(publishedPublicId);
  if (record?.status !== 'active') return [];
  await keys.write({ ...record, status: 'revoked' });
  return ['the published demo key is revoked: it could call a real provider'];
}

/** Revokes all active random keys except that of the latest start. */
export async function revokeFormerKeys({ keys }: Stores, current: string): Promise<void> {
  for await (const record of keys.list()) {
    const isFormer = record.publicId !== parseApiKey(current)?.publicId && record.status === 'active';
    const isRandom = record.workspace === demoWorkspaceId && record.name === randomKeyName;
    if (isFormer && isRandom) await keys.write({ ...record, status: 'revoked' });
  }
}
