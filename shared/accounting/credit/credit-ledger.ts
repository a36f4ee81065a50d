// The credit of workspaces: held before a provider is called, settled to the real cost after the last byte, shown to
// the operator. The rules of holds are those of shared/accounting/holds; what is here is where they stand and how shards share.

import type { Randomness } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { type CallOptions, type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import { type Hold, readAmount, type SettleResult, settleHold } from '../holds/index.ts';
import { type CreditAccount, creditAttributes, creditCounter, shardCount } from './credit-account.ts';
import { type CreditSummary, summarize } from './credit-summary.ts';
import { type Addition, addCredit, createCredit } from './grants.ts';
import { gather, level, readAll, readShards } from './shards.ts';
import { type CreditHold, type CreditTake, takeCredit } from './take-credit.ts';
import type { TransferContext } from './transfer.ts';

export interface CreditSettlement {
  readonly hold: CreditHold;
  /** The real cost. */
  readonly actual: PicoUsd;
  readonly nowMs: number;
  readonly options?: CallOptions;
}

export interface CreditLedger {
  /** Sets the credit of a new workspace; one that exists keeps its own. */
  create(workspace: string, credit: PicoUsd): Promise<'created' | 'existing'>;
  /** Adds credit, or takes some away, once per id. */
  add(addition: Addition): ReturnType<typeof addCredit>;
  /** Throws StoreUnavailable, and a RangeError for an amount that is not above 0. */
  take(account: CreditAccount, hold: Hold, nowMs: number, options?: CallOptions): Promise<CreditTake>;
  /** Charges the real cost and gives back the rest, exactly once. Throws StoreUnavailable; asking again is safe. */
  settle(settlement: CreditSettlement): Promise<SettleResult>;
  /** Gives all of it back. */
  release(settlement: Omit<CreditSettlement, 'actual'>): Promise<SettleResult>;
  /** For the operator. Exact while nothing moves between shards. */
  show(account: CreditAccount): Promise<CreditSummary>;
}

export function createCreditLedger({ store, randomness }: { store: Store; randomness: Randomness }): CreditLedger {
  const settle = (settlement: CreditSettlement) => settleCredit(store, settlement);
  return {
    create: (workspace, credit) => createCredit(store, workspace, credit),
    add: (addition) => addCredit(store, addition),
    take: (account, hold, nowMs, options) => takeCredit({ store, account, randomness, nowMs, options }, hold),
    settle,
    release: (settlement) => settle({ ...settlement, actual: 0n }),
    show: async (account) => summarize(account, await readAll({ store, account })),
  };
}

async function settleCredit(store: Store, { hold, actual, nowMs, options }: CreditSettlement): Promise<SettleResult> {
  const { account, shard, owner, amount: held } = hold;
  const counter = creditCounter(account, shard);
  const base = { store, counter, owner, held, actual, nowMs };
  const result = await settleHold(options === undefined ? base : { ...base, options });
  if (result.kind === 'settled' && shardCount(account) > 1) {
    await evenOut({ store, account, options }, hold, result.item, nowMs);
  }
  return result;
}

/** What a settlement has learnt about the shards. Best effort: the settlement itself is done. */
async function evenOut(context: TransferContext, hold: CreditHold, item: Item, nowMs: number): Promise<void> {
  try {
    if (readAmount(item[creditAttributes.balance]) < 0n) {
      // A late cost, or more than was held: what other shards have left pays it before anybody else can hold that.
      await gather(context, await readShards(context, nowMs), hold.shard, 0n);
    } else if (hold.shortShard !== undefined) {
      await level(context, hold.shard, hold.shortShard, item, hold.amount);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
