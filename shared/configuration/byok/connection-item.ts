// Connections at rest. Table `connections`, one item per workspace, so that all of them are one read:
//   pk                WORKSPACE#<id>
//   revision          counts the writes; a write states the one it read
//   connections       list of {provider, policy, budget_usd: decimal string or null,
//                     key?: {v, wrapped_key, wrapped_by?, iv, tag, ciphertext}}
import { formatUsd, parseUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import type { Connection, ConnectionPolicy } from './connection.ts';
import type { SealedKey } from './key-vault.ts';

export const itemKey = (workspace: string): string => `WORKSPACE#${workspace}`;

interface StoredConnection {
  readonly provider: string;
  readonly policy: ConnectionPolicy;
  readonly budget_usd: string | null;
  readonly key?: SealedKey | undefined;
}

export const toItem = (workspace: string, revision: number, connections: readonly Connection[]): Item => ({
  pk: itemKey(workspace),
  revision,
  connections: connections.map(toStored),
});

export const revisionOf = (item: Item | undefined): number => (item?.revision as number | undefined) ?? 0;

/** The workspace is the one that was asked for, not one that the item names: a copied item must not open. */
export const readItem = (workspace: string, item: Item | undefined): Connection[] =>
  ((item?.connections as StoredConnection[] | undefined) ?? []).map((stored) => fromStored(workspace, stored));

const toStored = ({ provider, policy, budgetPicoUsd, sealed }: Connection): StoredConnection => ({
  provider,
  policy,
  budget_usd: budgetPicoUsd === null ? null : formatUsd(budgetPicoUsd),
  key: sealed,
});

const fromStored = (workspace: string, { provider, policy, budget_usd, key }: StoredConnection): Connection => ({
  workspace,
  provider,
  policy,
  // A budget that cannot be read must not become none.
  budgetPicoUsd: budget_usd === null ? null : (parseUsd(budget_usd) ?? 0n),
  sealed: key,
});
