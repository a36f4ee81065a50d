// Defines a stored BYOK connection: the workspace's own credential at one provider. Table `connections` has one item
// per workspace, so that all of its connections are one read:
//
//   pk                WORKSPACE#<id>
//   revision          counts the writes; a write states the one it read
//   connections       list of {provider, policy, budget_usd: decimal string or null, key_source?: {env} or {secret},
//                     key?: {v, wrapped_key, wrapped_by?, iv, tag, ciphertext}}
import { formatUsd, type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import type { SealedKey } from './key-vault.ts';

/**
 * `always`: plain calls may use stored connections only. `allowed`: a stored connection is used when its provider is
 * chosen.
 */
export type ConnectionPolicy = 'always' | 'allowed';

/** Place of the key, as the file names it. It is a name, never the key. */
export type KeySource = { readonly env: string } | { readonly secret: string };

export interface Connection {
  readonly workspace: string;
  /** Provider, which identifies the connection, because a workspace has at most one connection per provider. */
  readonly provider: string;
  readonly policy: ConnectionPolicy;
  /** Cap on everything that is spent through the connection; null: no cap. */
  readonly budgetPicoUsd: PicoUsd | null;
  /**
   * Undefined when no key was available as the file was applied. Then the policy applies, but no call can use the
   * connection.
   */
  readonly sealed: SealedKey | undefined;
  /** Undefined in connections stored by a release without it. */
  readonly keySource?: KeySource | undefined;
}

interface StoredConnection {
  readonly provider: string;
  readonly policy: ConnectionPolicy;
  readonly budget_usd: string | null;
  readonly key?: SealedKey | undefined;
  readonly key_source?: KeySource | undefined;
}

const keyPrefix = 'WORKSPACE#';

export const itemKey = (workspace: string): string => keyPrefix + workspace;

export const workspaceOf = ({ pk }: Item): string => String(pk).slice(keyPrefix.length);

export const revisionOf = (item: Item | undefined): number => (item?.revision as number | undefined) ?? 0;

export const toItem = (workspace: string, revision: number, connections: readonly Connection[]): Item => ({
  pk: itemKey(workspace),
  revision,
  connections: connections.map(
    ({ provider, policy, budgetPicoUsd, sealed, keySource }): StoredConnection => ({
      provider,
      policy,
      budget_usd: formatUsd(budgetPicoUsd),
      key: sealed,
      key_source: keySource,
    }),
  ),
});

/**
 * Reads the item. The workspace is the requested workspace, not the item's own text, so that a copied item does not
 * open.
 */
export const readItem = (workspace: string, item: Item | undefined): Connection[] =>
  ((item?.connections as StoredConnection[] | undefined) ?? []).map(
    ({ provider, policy, budget_usd, key, key_source }) => ({
      workspace,
      provider,
      policy,
      // A budget that cannot be parsed must not become no budget.
      budgetPicoUsd: budget_usd === null ? null : (parseUsd(budget_usd) ?? 0n),
      sealed: key,
      keySource: key_source,
    }),
  );
