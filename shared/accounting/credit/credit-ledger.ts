// The credit of workspaces: held before a provider is called, settled to the real cost after the last byte, shown to
// the operator. The rules of holds are those of `holds`; what is here is where they stand and how shards share.
import { createCache } from '../../foundation/cache/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import { gatherRuns, type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import type { Counters, Hold, SettlementOutcome } from '../holds/index.ts';
import { type CreditAccount, creditCounter, isInDebt, readBalance, shardCount } from './credit-account.ts';
import { gather, level, readAll, readShards, type ShardContext } from './credit-shards.ts';
import { type CreditSummary, summarize } from './credit-summary.ts';
import { type Addition, addCredit, type CreditAddition, createCredit, readAdditions } from './grants.ts';
import { type CreditHold, type CreditTake, createCreditTake } from './take-credit.ts';

export interface CreditLedger {
  /** Sets the credit of a new workspace; one that exists keeps its own. */
  create(workspace: string, credit: PicoUsd): Promise<'created' | 'existing'>;
  /** Adds credit, or takes some away, once per id. */
  add(addition: Addition): AdditionOutcome;
  /** Throws StoreUnavailable, and a RangeError for an amount that is not above 0. */
  take(account: CreditAccount, hold: Hold): Promise<CreditTake>;
  /** Charges the real cost and gives back the rest, exactly once. Throws StoreUnavailable; asking again is safe. */
  settle(hold: CreditHold, actual: PicoUsd): Promise<SettlementOutcome>;
  /** Gives all of it back. */
  release(hold: CreditHold): Promise<SettlementOutcome>;
  /** Additions and removals by operators, the newest first, as far back as they are remembered: 30 days. */
  additions(workspace: string): Promise<CreditAddition[]>;
  /** For the operator. Exact while nothing moves between shards. */
  show(account: CreditAccount): Promise<CreditSummary>;
}

type AdditionOutcome = ReturnType<typeof addCredit>;

interface AskedAddition {
  readonly addition: Addition;
  readonly resolve: (outcome: AdditionOutcome) => void;
}

/** Whose additions wait for each other. */
const addedWorkspacesMax = 1_000;

export interface CreditLedgerOptions {
  readonly store: Store;
  readonly counters: Counters;
  readonly randomness: Randomness;
}

export function createCreditLedger(options: CreditLedgerOptions): CreditLedger {
  const { store, counters } = options;
  /** Additions of one workspace, one after the other: each finishes what the one before it has begun. */
  const additions = createCache<(addition: AskedAddition) => void>({ sizeMax: addedWorkspacesMax });

  async function addInTurn(asked: readonly AskedAddition[]): Promise<[]> {
    for (const { addition, resolve } of asked) {
      const added = addCredit({ store, counters }, addition);
      resolve(added);
      await added.catch(() => undefined);
    }
    return [];
  }

  async function settle(hold: CreditHold, actual: PicoUsd): Promise<SettlementOutcome> {
    const { account, shard } = hold;
    const result = await counters.settle(creditCounter(account, shard), hold, actual);
    if (result.kind === 'settled' && shardCount(account) > 1)
      await evenOut({ store, counters, account }, hold, result.item);
    return result;
  }

  return {
    create: (workspace, credit) => createCredit(store, workspace, credit),
    add(addition) {
      const enter = additions.get(addition.workspace) ?? gatherRuns(addInTurn);
      additions.set(addition.workspace, enter);
      const { promise, resolve } = Promise.withResolvers<Awaited<AdditionOutcome>>();
      enter({ addition, resolve });
      return promise;
    },
    take: createCreditTake(options),
    settle,
    release: (hold) => settle(hold, 0n),
    additions: (workspace) => readAdditions(store, workspace),
    show: async (account) => summarize(account, await readAll({ store, account })),
  };
}

/** What a settlement has seen of the shards. Best effort: the settlement itself is done. */
async function evenOut(context: ShardContext, hold: CreditHold, item: Item): Promise<void> {
  try {
    if (isInDebt(readBalance(context.account, hold.shard, item))) {
      // A late cost, more than was held, or a lower limit: what other shards have left pays it before a call holds that.
      await gather(context, await readShards(context), hold.shard, 0n);
    } else if (hold.shortShard !== undefined) {
      await level(context, hold.shard, hold.shortShard, item, hold.amount);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
