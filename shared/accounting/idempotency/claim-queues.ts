// Shares concurrent claims of one name in one process, as a thousand retries make them. One claim is sent to the store,
// and its answer serves the other claims too, because they arrived before the answer. Each claim gets its answer as if
// it were alone and in its turn. A single claim is written at once.
import { createCache } from '../../foundation/cache/index.ts';
import {
  batchRuns,
  type CallOptions,
  type Condition,
  holds,
  type Item,
  type Put,
  type Store,
} from '../../storage/store/index.ts';

/**
 * Maximum number of names that are claimed at the same time. Beyond this number claims of one name are not shared,
 * which is as correct.
 */
const queuesMax = 5_000;

interface ClaimRules<Claim, Outcome> {
  readonly toPut: (claim: Claim) => Put & { readonly condition: Condition };
  /** Outcome for the claim that was written. */
  readonly written: Outcome;
  /** Returns the outcome if the item does not meet the condition of the claim's write. */
  readonly judge: (item: Item, claim: Claim) => Outcome;
}

interface WaitingClaim<Claim, Outcome> {
  readonly claim: Claim;
  readonly options: CallOptions;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Creates the queues. Claims throw StoreUnavailable, including those that shared the write. */
export function createClaimQueues<Claim, Outcome>(
  store: Pick<Store, 'put'>,
  { toPut, written, judge }: ClaimRules<Claim, Outcome>,
): (name: string, claim: Claim, options: CallOptions) => Promise<Outcome> {
  type Claimant = WaitingClaim<Claim, Outcome>;
  const queues = createCache<(claim: Claimant) => void>({ sizeMax: queuesMax });

  async function serve(claims: readonly Claimant[]): Promise<readonly Claimant[]> {
    const [first, ...others] = claims;
    if (first === undefined) return [];
    try {
      const put = toPut(first.claim);
      const result = await store.put(put, first.options);
      const item = result.kind === 'written' ? put.item : result.item;
      if (item === undefined) throw new Error('a claim was refused by an item that is not there');
      first.resolve(result.kind === 'written' ? written : judge(item, first.claim));
      return others.filter(({ claim, resolve }) => {
        const isFree = holds(toPut(claim).condition, item);
        if (!isFree) resolve(judge(item, claim));
        return isFree;
      });
    } catch (error) {
      for (const { reject } of claims) reject(error);
      return [];
    }
  }

  return (name, claim, options) => {
    const enter = queues.get(name) ?? batchRuns(serve);
    queues.set(name, enter);
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    enter({ claim, options, resolve, reject });
    return promise;
  };
}
