// Where the credit of a workspace stands: one item, or several shards where more calls run at once than one item can
// take. Every running call has an entry of about 75 bytes in the item, each write costs a write unit per KB of all that,
// and a partition takes 1,000 units a second: one shard serves up to about 150 calls at a time.
//
// What is true of all shards together, at any moment:
//   granted = balances + held + spent + what is on its way between two shards
//   spend limit - held - spent = sum over the shards of (share of the limit + limit balance) + what is on its way
// Shard 0 has the key that an unsharded workspace has, so shards may be added at any time; they must not be taken away,
// for what stands in them would no longer be found.

import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Item } from '../../storage/store/index.ts';
import { type Counter, readAmount, readAvailable } from '../holds/index.ts';

/** A shortage reads every shard, within the 1.9 s of an admission. */
export const shardsMax = 32;

export interface CreditAccount {
  readonly workspace: string;
  /** 1 to `shardsMax`. Default 1. */
  readonly shards?: number | undefined;
  /** Cap on all that the workspace spends, null for none. Configuration: a changed cap counts from the next call on. */
  readonly spendLimit: PicoUsd | null;
}

export const creditAttributes = {
  /** All that was ever given to the workspace. Only in shard 0. */
  granted: 'granted_pico_usd',
  balance: 'balance_pico_usd',
  /** Minus what the shard holds and has spent, plus room under the spend limit that other shards gave to it. */
  limitBalance: 'spend_limit_balance_pico_usd',
  spent: 'spent_pico_usd',
} as const;

/** Throws a RangeError for a number of shards that cannot be. */
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
    { attribute: creditAttributes.limitBalance, limit: shareOfLimit(account, shard) },
  ],
  spentAttribute: creditAttributes.spent,
});

/** The shares of all shards are the spend limit, to the last pico-USD. */
export function shareOfLimit(account: CreditAccount, shard: number): PicoUsd | null {
  if (account.spendLimit === null) return null;
  const shards = BigInt(shardCount(account));
  return account.spendLimit / shards + (BigInt(shard) < account.spendLimit % shards ? 1n : 0n);
}

/** What a shard could hold now. */
export interface Room {
  readonly credit: PicoUsd;
  /** Under the spend limit; null where there is none. */
  readonly headroom: PicoUsd | null;
}

export function readRoom(account: CreditAccount, shard: number, item: Item): Room {
  const share = shareOfLimit(account, shard);
  return {
    credit: readAmount(item[creditAttributes.balance]),
    headroom: share === null ? null : readAmount(item[creditAttributes.limitBalance]) + share,
  };
}

/** The lesser of the two. Credit is always limited. */
export const readSpendable = (account: CreditAccount, shard: number, item: Item): PicoUsd =>
  readAvailable(creditCounter(account, shard), item) ?? 0n;
