// The demo: a gateway that works offline on simulated providers, and on every well-known provider whose key is in the
// environment.
import type { Runtime } from '../../../shared/composition/index.ts';
import { createApiKey, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { demoGatewayFile, demoWorkspaceId, isDemoCatalogue, publishedKey } from './demo-file.ts';
import { knownProviders } from './known-providers.ts';

type Stores = Pick<Runtime, 'catalogues' | 'workspaceStore' | 'keys' | 'randomness'>;

export interface Demo {
  /** A gateway file. */
  readonly text: string;
  readonly key: string;
  readonly notes: readonly string[];
}

const publishedPublicId = parseApiKey(publishedKey)?.publicId ?? '';
const randomKeyName = 'demo-random';

/** Whether the store is empty or holds nothing but the demo. Any other store is served as it is. */
export async function isDemoStore({ catalogues, workspaceStore }: Stores): Promise<boolean> {
  for await (const { id } of workspaceStore.list()) if (id !== demoWorkspaceId) return false;
  const document = await catalogues.read();
  return document === undefined || isDemoCatalogue(document);
}

/**
 * The published key is used only while every provider is simulated, and not once it was revoked; otherwise the key is made
 * anew at each start.
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

/** One demo key is active: that of the latest start. What is revoked is one line each. */
export async function revokeFormerKeys({ keys }: Stores, current: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const record of keys.list()) {
    const { workspace, name, publicId, status } = record;
    const isDemoKey = publicId === publishedPublicId || (workspace === demoWorkspaceId && name === randomKeyName);
    if (!isDemoKey || status !== 'active' || publicId === parseApiKey(current)?.publicId) continue;
    await keys.write({ ...record, status: 'revoked' });
    lines.push(
      `${publicId === publishedPublicId ? 'the published demo key' : 'a demo key of a former start'} is revoked`,
    );
  }
  return lines;
}
