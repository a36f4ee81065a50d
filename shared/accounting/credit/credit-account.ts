// Defines the items with the credit of a workspace. There are several shards if one item cannot take the writes of all
// calls: a partition takes 1,000 write units a second, and a call is two writes of one unit.
//
// Invariants of all shards together, at any moment:
//
//   granted = balances + held + spent + pending transfers between shards
//   spend limit - held - spent = sum over the shards of their headroom + pending transfers
//
// Shard 0 has the key of an unsharded workspace, and the whole spend limit: other shards have only transferred amounts.
// So shards may be added at any time, while some processes do not know of them yet, and the shards together never spend
// more than the limit. They must not be removed, because their amounts would not be found.
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { type Counter, readAmount, readAvailable } from '../holds/index.ts';

/** Maximum number of shards. A shortage reads every shard, within the 1.9 s of an admission. */
const shardsMax = 32;

export interface CreditAccount {
  readonly workspace: string;
  /** Number of shards, 1 to `shardsMax`. Default 1. */
  readonly shards?: number | undefined;
  /**
   * Cap on everything that the workspace spends, null for none. The cap is configuration, so a changed cap counts from
   * the next call on.
   */
  readonly spendLimit: PicoUsd | null;
  /** Limit of concurrent calls, whose slots are taken with reservations in one shard. Null or absent: no limit here. */
  readonly concurrency?: number | null | undefined;
}

export const creditAttributes = {
  /** Total that was ever granted to the workspace. Only in shard 0. */
  granted: 'granted_pico_usd',
  balance: 'balance_pico_usd',
  /** Headroom received from other shards, minus headroom that was sent, reserved and spent. */
  limitBalance: 'spend_limit_balance_pico_usd',
  spent: 'spent_pico_usd',
} as const;

/** Throws a RangeError for an impossible number of shards. */
export function shardCount({ shards = 1 }: CreditAccount): number {
  if (!Number.isInteger(shards) || shards < 1 || shards > shardsMax) {
    throw new RangeError(`${shards} shards: must be 1 to ${shardsMax}`);
  }
  return shards;
}

export const creditKey = (workspace: string, shard: number): string =>
  shard === 0 ? `CREDIT#${workspace}` : `CREDIT#${workspace}#${shard}`;

export const creditCounter = (account: CreditAccount, shard: number): Counter => ({
  table: 'ledger',
  key: creditKey(account.workspace, shard),
  balances: [
    { attribute: creditAttributes.balance, limit: 0n },
    { attribute: creditAttributes.limitBalance, limit: ownLimit(account, shard) },
  ],
  spentAttribute: creditAttributes.spent,
  slotsMax: account.concurrency ?? null,
});

/** Returns the part of the spend limit that a shard has without a transfer. */
export const ownLimit = ({ spendLimit }: CreditAccount, shard: number): PicoUsd | null =>
  spendLimit !== null && shard > 0 ? 0n : spendLimit;

/** The amount that a shard could reserve now. */
export interface ShardBalance {
  readonly credit: PicoUsd;
  /** Headroom under the spend limit; null if there is none. */
  readonly headroom: PicoUsd | null;
}

export function readBalance(account: CreditAccount, shard: number, item: Item): ShardBalance {
  const limit = ownLimit(account, shard);
  return {
    credit: readAmount(item[creditAttributes.balance]),
    headroom: limit === null ? null : readAmount(item[creditAttributes.limitBalance]) + limit,
  };
}

export const isInDebt = ({ credit, headroom }: ShardBalance): boolean => credit < 0n || (headroom ?? 0n) < 0n;

/** Returns the smaller amount of credit and headroom. Credit is always limited. */
export const readSpendable = (account: CreditAccount, shard: number, item: Item): PicoUsd =>
  readAvailable(creditCounter(account, shard).balances, item) ?? 0n;
