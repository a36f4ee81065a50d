// Reads and writes the connections of a workspace as one item. Encrypted texts differ each time, so a changed key is
// found by decrypting the stored key. No hash of a key is stored, because a key could be guessed by its hash.
import { canonicalJson, equalInConstantTime } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { absent, equals, type Store, WriteRefused, writeOptimistically } from '../../storage/store/index.ts';
import { SealBroken } from './aes-gcm.ts';
import {
  type Connection,
  type ConnectionPolicy,
  itemKey,
  type KeySource,
  readItem,
  revisionOf,
  toItem,
  workspaceOf,
} from './connection.ts';
import { readConnections } from './connection-list.ts';
import type { KeyVault } from './key-vault.ts';

/** Maximum number of connections. A sealed key takes 1.5 KB at most, and DynamoDB refuses items over 400 KB. */
export const connectionsPerWorkspaceMax = 100;

/** A connection as a file writes it. Absent fields keep their stored values. */
export interface WantedConnection {
  readonly provider: string;
  readonly isRemoved: boolean;
  /** Policy; if undefined, a new connection has `allowed`. */
  readonly policy: ConnectionPolicy | undefined;
  /** Budget; if undefined, a new connection has none. */
  readonly budgetPicoUsd: PicoUsd | null | undefined;
  /** The clear key; undefined keeps the stored one, if there is one. */
  readonly key: string | undefined;
  /** Place of the key, as the file names it. */
  readonly keySource?: KeySource | undefined;
}

export interface ConnectionChange {
  readonly provider: string;
  readonly change: 'created' | 'changed' | 'unchanged' | 'removed';
  readonly former: Connection | undefined;
  /** The new connection; undefined for a removal. It contains the former key. */
  readonly next: Connection | undefined;
  /** True if another key replaces the former one. */
  readonly hasNewKey: boolean;
}

/** A change with a clear key, which does not leave this file. */
interface UnsealedChange {
  readonly change: ConnectionChange;
  readonly newKey: string | undefined;
}

export interface ConnectionStore {
  /**
   * Reads the connections with strong consistency, in one read. Empty for a workspace that has none or does not exist.
   */
  read(workspace: string): Promise<Connection[]>;
  /**
   * Finds the first connection whose key cannot be decrypted here, if any. For the operator, because it reads the whole
   * table.
   */
  findClosed(): Promise<Connection | undefined>;
  /** Returns the changes that `write` would make now, in the order of `wanted`. */
  plan(workspace: string, wanted: readonly WantedConnection[]): Promise<ConnectionChange[]>;
  /**
   * Writes the named connections, and leaves others unchanged. It writes all changes or none, and nothing if nothing
   * changes. Throws WriteRefused when other writes continue to arrive between.
   */
  write(workspace: string, wanted: readonly WantedConnection[]): Promise<ConnectionChange[]>;
}

/** True for an error other than SealBroken, which says nothing about the seal of the key. */
const isNotBroken = (error: unknown): boolean => !(error instanceof SealBroken);

export function createConnectionStore(store: Store, vault: KeyVault): ConnectionStore {
  const planAll = (stored: readonly Connection[], workspace: string, wanted: readonly WantedConnection[]) => {
    checkWanted(workspace, stored, wanted);
    const former = new Map(stored.map((connection) => [connection.provider, connection]));
    return Promise.all(wanted.map((one) => planOne(vault, workspace, one, former.get(one.provider))));
  };
  const seal = async ({ change: { next }, newKey }: UnsealedChange) =>
    next === undefined || newKey === undefined ? next : { ...next, sealed: await vault.seal(next, newKey) };
  const changesIn = (planned: readonly UnsealedChange[]) => planned.map(({ change }) => change);

  return {
    read: (workspace) => readConnections(store, workspace),
    async findClosed() {
      for await (const item of store.scan('connections')) {
        for (const connection of readItem(workspaceOf(item), item)) {
          if (connection.sealed === undefined) continue;
          const isOpen = await vault.open(connection, connection.sealed).then(() => true, isNotBroken);
          if (!isOpen) return connection;
        }
      }
      return undefined;
    },
    plan: async (workspace, wanted) => {
      const item = await store.get('connections', itemKey(workspace));
      return changesIn(await planAll(readItem(workspace, item), workspace, wanted));
    },
    write: (workspace, wanted) =>
      writeOptimistically(`the byok connections of ${workspace} are`, async () => {
        const item = await store.get('connections', itemKey(workspace));
        const storedConnections = readItem(workspace, item);
        const planned = await planAll(storedConnections, workspace, wanted);
        const changes = changesIn(planned);
        if (changes.every(({ change }) => change === 'unchanged')) return changes;
        const connections = new Map(storedConnections.map((connection) => [connection.provider, connection]));
        for (const one of planned) {
          const next = await seal(one);
          if (next === undefined) connections.delete(one.change.provider);
          else connections.set(next.provider, next);
        }
        const result = await store.put({
          table: 'connections',
          item: toItem(workspace, revisionOf(item) + 1, [...connections.values()]),
          condition: item === undefined ? absent('pk') : equals('revision', revisionOf(item)),
        });
        return result.kind === 'written' ? changes : undefined;
      }),
  };
}

async function planOne(
  vault: KeyVault,
  workspace: string,
  { provider, isRemoved, key, ...settings }: WantedConnection,
  former: Connection | undefined,
): Promise<UnsealedChange> {
  if (isRemoved) {
    const change = former === undefined ? 'unchanged' : 'removed';
    return { change: { provider, change, former, next: undefined, hasNewKey: false }, newKey: undefined };
  }
  const { policy = former?.policy ?? 'allowed', budgetPicoUsd = former?.budgetPicoUsd ?? null } = settings;
  const keySource = settings.keySource ?? former?.keySource;
  const next = { workspace, provider, policy, budgetPicoUsd, sealed: former?.sealed, keySource };
  const newKey = key === undefined || (former !== undefined && (await holds(vault, former, key))) ? undefined : key;
  const hasSameSource = canonicalJson(keySource ?? null) === canonicalJson(former?.keySource ?? null);
  const isSame =
    newKey === undefined && former?.policy === policy && former.budgetPicoUsd === budgetPicoUsd && hasSameSource;
  const change = former === undefined ? 'created' : isSame ? 'unchanged' : 'changed';
  return { change: { provider, change, former, next, hasNewKey: newKey !== undefined }, newKey };
}

/**
 * Returns true if this same key is stored. A key that no longer opens is treated like another key, and is sealed
 * again.
 */
async function holds(vault: KeyVault, connection: Connection, key: string): Promise<boolean> {
  if (connection.sealed === undefined) return false;
  try {
    return equalInConstantTime(await vault.open(connection, connection.sealed), key);
  } catch (error) {
    if (error instanceof SealBroken) return false;
    throw error;
  }
}

function checkWanted(workspace: string, stored: readonly Connection[], wanted: readonly WantedConnection[]): void {
  const providers = wanted.map(({ provider }) => provider);
  if (new Set([...stored.map(({ provider }) => provider), ...providers]).size > connectionsPerWorkspaceMax) {
    throw new WriteRefused(`workspace ${workspace} has more than ${connectionsPerWorkspaceMax} byok connections`);
  }
  const twice = providers.find((provider, index) => providers.indexOf(provider) !== index);
  if (twice !== undefined) throw new WriteRefused(`workspace ${workspace} has two byok connections to ${twice}`);
}
