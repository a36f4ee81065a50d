// Reserves credit of a workspace before a provider is called, and charges the real cost after the last byte. The rules
// come from `holds`; this file decides which shards have a reservation and how they share.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import type { Counter, Counters, Hold, SettlementOptions, SettlementOutcome } from '../holds/index.ts';
import { type CreditAccount, creditCounter, isInDebt, readBalance, shardCount } from './credit-account.ts';
import { gather, level, readAll, readShards, type ShardContext } from './credit-shards.ts';
import { type CreditSummary, summarize } from './credit-summary.ts';
import { type CreditHold, type CreditTake, createCreditTake } from './take-credit.ts';

export interface CreditPayments {
  /** Reserves credit. Throws StoreUnavailable, and a RangeError for an amount that is not above 0. */
  take(account: CreditAccount, hold: Hold): Promise<CreditTake>;
  /** Charges the real cost and releases the rest, exactly once. Throws StoreUnavailable; calling it again is safe. */
  settle(hold: CreditHold, actual: PicoUsd, options?: SettlementOptions): Promise<SettlementOutcome>;
  /** Releases the whole reservation. */
  release(hold: CreditHold): Promise<SettlementOutcome>;
  /** Returns the credit, which is exact while nothing moves between shards. */
  show(account: CreditAccount): Promise<CreditSummary>;
}

export interface CreditOptions {
  readonly store: Store;
  /** Clock that decides which reservations have expired. */
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly counters: Counters;
  readonly randomness: Randomness;
}

export function createCreditPayments(options: CreditOptions): CreditPayments {
  const { store, clock, counters } = options;

  function settle(hold: CreditHold, actual: PicoUsd, options?: SettlementOptions): Promise<SettlementOutcome> {
    const { account, shard } = hold;
    const counter = creditCounter(account, shard);
    return shardCount(account) === 1
      ? counters.settle(counter, hold, actual, options)
      : settleSpread(counter, hold, actual, options);
  }

  async function settleSpread(
    counter: Counter,
    hold: CreditHold,
    actual: PicoUsd,
    options?: SettlementOptions,
  ): Promise<SettlementOutcome> {
    const result = await counters.settle(counter, hold, actual, { ...options, needsItem: true });
    if (result.kind === 'settled') await evenOut({ store, counters, account: hold.account }, hold, result.item);
    return result;
  }

  return {
    take: createCreditTake(options),
    settle,
    release: (hold) => settle(hold, 0n),
    show: async (account) => summarize(account, await readAll({ store, account }), clock.nowMs()),
  };
}

/** Levels shards by the state that a settlement has seen. Levelling may fail, because the settlement itself is done. */
async function evenOut(context: ShardContext, hold: CreditHold, item: Item): Promise<void> {
  try {
    if (isInDebt(readBalance(context.account, hold.shard, item))) {
      // After a late cost, a cost above the reservation, or a lower limit, this shard takes headroom of other shards
      // before a call reserves that headroom.
      await gather(context, await readShards(context), hold.shard, 0n);
    } else if (hold.shortShard !== undefined) {
      await level(context, hold.shard, hold.shortShard, item, hold.amount);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
