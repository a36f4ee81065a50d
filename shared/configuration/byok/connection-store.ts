// The connections of a workspace, read and written as one. Sealed texts differ each time, so whether a key changed is
// known by opening the stored one: no hash of a key, which could be guessed at, stands anywhere.
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { SealBroken } from './aes-gcm.ts';
import type { Connection, ConnectionPolicy } from './connection.ts';
import { itemKey, readItem, revisionOf, toItem } from './connection-item.ts';
import type { KeyVault } from './key-vault.ts';

/** A sealed key takes 1.5 KB at most, and DynamoDB refuses items over 400 KB. */
export const connectionsPerWorkspaceMax = 100;
/** Gateways that start together apply the same file together; a second look shows each that the work is done. */
const writeAttemptsMax = 3;

/** What a file says of a connection. */
export interface WantedConnection {
  readonly provider: string;
  readonly policy: ConnectionPolicy;
  readonly budgetPicoUsd: PicoUsd | null;
  /** The clear key. Undefined: the stored one stays, if there is one. */
  readonly key: string | undefined;
}

export interface ConnectionChange {
  readonly provider: string;
  readonly change: 'created' | 'changed' | 'unchanged' | 'removed';
}

export interface ConnectionStore {
  /** Strongly consistent, one read. Empty for a workspace that has none or does not exist. */
  read(workspace: string): Promise<Connection[]>;
  /**
   * Makes these the connections of the workspace; others are removed. All or nothing, and nothing is written where
   * nothing changes. Throws an Error for the operator when somebody else keeps writing at the same time.
   */
  write(workspace: string, wanted: readonly WantedConnection[]): Promise<ConnectionChange[]>;
}

export function createConnectionStore(store: Store, vault: KeyVault): ConnectionStore {
  return {
    read: async (workspace) => readItem(workspace, await store.get('connections', itemKey(workspace))),
    async write(workspace, wanted) {
      checkWanted(workspace, wanted);
      for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
        const item = await store.get('connections', itemKey(workspace));
        const planned = await planAll(vault, workspace, wanted, readItem(workspace, item));
        const changes = planned.map(({ change }) => change);
        if (changes.every(({ change }) => change === 'unchanged')) return changes;
        const connections = planned.flatMap(({ connection }) => connection ?? []);
        const result = await store.put({
          table: 'connections',
          item: toItem(workspace, revisionOf(item) + 1, connections),
          condition: item === undefined ? 'attribute_not_exists(pk)' : 'revision = :former',
          values: item === undefined ? {} : { ':former': revisionOf(item) },
        });
        if (result.kind === 'written') return changes;
      }
      throw new Error(`the byok connections of ${workspace} are being changed by somebody else: apply the file again`);
    },
  };
}

interface Planned {
  /** Undefined: it goes. */
  readonly connection: Connection | undefined;
  readonly change: ConnectionChange;
}

async function planAll(
  vault: KeyVault,
  workspace: string,
  wanted: readonly WantedConnection[],
  stored: readonly Connection[],
): Promise<Planned[]> {
  const former = new Map(stored.map((connection) => [connection.provider, connection]));
  const kept = await Promise.all(wanted.map((one) => planOne(vault, workspace, one, former.get(one.provider))));
  const gone = stored.filter(({ provider }) => !wanted.some((one) => one.provider === provider));
  const removed = gone.map(
    ({ provider }): Planned => ({ connection: undefined, change: { provider, change: 'removed' } }),
  );
  return [...kept, ...removed];
}

async function planOne(
  vault: KeyVault,
  workspace: string,
  { provider, policy, budgetPicoUsd, key }: WantedConnection,
  former: Connection | undefined,
): Promise<Planned> {
  const keepsKey = key === undefined || (former !== undefined && (await holds(vault, former, key)));
  const isSame = keepsKey && former?.policy === policy && former.budgetPicoUsd === budgetPicoUsd;
  const sealed = keepsKey ? former?.sealed : await vault.seal({ workspace, provider }, key);
  const change = former === undefined ? 'created' : isSame ? 'unchanged' : 'changed';
  return {
    connection: { workspace, provider, policy, budgetPicoUsd, sealed },
    change: { provider, change },
  };
}

/** Whether this very key is stored. One that no longer opens is as good as another one, and is sealed anew. */
async function holds(vault: KeyVault, connection: Connection, key: string): Promise<boolean> {
  if (connection.sealed === undefined) return false;
  try {
    return equalInConstantTime(await vault.open(connection, connection.sealed), key);
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

function checkWanted(workspace: string, wanted: readonly WantedConnection[]): void {
  if (wanted.length > connectionsPerWorkspaceMax) {
    throw new Error(`workspace ${workspace} has more than ${connectionsPerWorkspaceMax} byok connections`);
  }
  const providers = wanted.map(({ provider }) => provider);
  const twice = providers.find((provider, index) => providers.indexOf(provider) !== index);
  if (twice !== undefined) throw new Error(`workspace ${workspace} has two byok connections to ${twice}`);
}
