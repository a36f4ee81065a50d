// Admits calls at a provider: rpm, tpm and tpd of an entry apply across any number of gateway instances, because the
// write that counts a call is the decision itself. An admission is one write if the item is known and the limits are
// open.
//
//   pk                         provider#<provider id>#<model id>#<shard>, key#<id>#<shard>, workspace#<id>#<shard>
//   requests_total …           windows of requests and tokens (shared/accounting/holds)
//   expires_at_epoch_seconds   time from which nothing in the item counts any more
import type { Randomness } from '../../foundation/ids/index.ts';
import { type Clock, dayMs } from '../../foundation/time/index.ts';
import { type ItemWriter, requestsPerMinute, type SettlementOptions, type UpdateDraft } from '../holds/index.ts';
import {
  type CallDemand,
  demandsOf,
  type EntryLimits,
  hasNoLimit,
  type LimitDemand,
  type LimitOwner,
  limitItemKey,
  shardCountOf,
  shardLimitsOf,
} from './limits.ts';

/** Counts of one call. It is settled or released once, at the limiter that returned it. */
export interface Permit {
  readonly key: string;
  readonly id: string;
  readonly countedAtMs: number;
  readonly demands: readonly LimitDemand[];
}

export type Admission =
  | { readonly kind: 'admitted'; readonly permit: Permit }
  /**
   * `retryAfterMs` is the time until this same demand fits, if no other call is admitted before: hours if a day's
   * tokens are used up, infinite if the demand has more requests than a whole minute.
   */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/**
 * The limiter. All three calls reject with StoreUnavailable. `settle` and `release` count once per permit, whichever
 * comes first, and do nothing after that; a rejected call may be repeated. A permit that is never settled counts until
 * its window is over.
 */
export interface ProviderLimiter {
  /** Admits a call. Without any limit the store is not called. An estimate of tokens above a limit is cut to it. */
  admit(limited: LimitOwner, limits: EntryLimits, demand: CallDemand): Promise<Admission>;
  /** Corrects the counts to the call's real tokens after the provider was called; 0 is valid too. */
  settle(permit: Permit, actualTokens: number, options?: SettlementOptions): Promise<void>;
  /**
   * Releases a permit whose provider was never called. Its tokens then do not count any more, and neither does a
   * request that was counted just now.
   */
  release(permit: Permit): Promise<void>;
}

interface ProviderLimiterOptions {
  readonly writer: ItemWriter;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'fraction' | 'uuid'>;
}

/** Days for which an item stays, because a day's tokens still count during the next day. */
const retentionDays = 2;

export function createProviderLimiter({ writer, clock, randomness }: ProviderLimiterOptions): ProviderLimiter {
  const closed = new WeakSet<Permit>();

  function admitOn(
    [limited, limits, call]: readonly [LimitOwner, EntryLimits, CallDemand],
    shard: number,
    shardCount: number,
  ): Promise<Admission> {
    const key = limitItemKey(limited, shard);
    const demands = demandsOf(shardLimitsOf(limits, shard, shardCount), call);
    const prepare = (draft: UpdateDraft) => draft.set('expires_at_epoch_seconds', expiryOf(clock.nowMs()));
    return writer.reserve(
      { table: 'limits', key },
      () => ({ counts: demands, prepare }),
      (outcome): Admission => {
        if (outcome.kind === 'limited') return { kind: 'limited', retryAfterMs: outcome.retryAfterMs };
        return { kind: 'admitted', permit: { key, id: randomness.uuid(), countedAtMs: outcome.atMs, demands } };
      },
    );
  }

  /** Ends a permit. `amountOf` is the call's real use of a limit. */
  function close(permit: Permit, amountOf: (demand: LimitDemand) => bigint, isAwaited: boolean): Promise<void> {
    if (closed.has(permit)) return Promise.resolve();
    closed.add(permit);
    const { key, id, countedAtMs, demands } = permit;
    const changes = demands
      .map((demand) => ({ window: demand.window, change: amountOf(demand) - demand.amount }))
      .filter(({ change }) => change !== 0n);
    if (changes.length === 0) return Promise.resolve();
    return writer
      .settle({ table: 'limits', key, owner: id }, { kind: 'correct', countedAtMs, changes }, { isAwaited })
      .then(
        () => {},
        (error: unknown) => {
          closed.delete(permit);
          throw error;
        },
      );
  }

  return {
    admit(limited, limits, demand) {
      if (hasNoLimit(limits)) return Promise.resolve({ kind: 'admitted', permit: noCounts() });
      if (limits.rpm !== null && demand.requests > limits.rpm) {
        return Promise.resolve({ kind: 'limited', retryAfterMs: Number.POSITIVE_INFINITY });
      }
      const admission = [limited, limits, demand] as const;
      const shardCount = shardCountOf(limits);
      const shard = Math.floor(randomness.fraction() * shardCount);
      const admitting = admitOn(admission, shard, shardCount);
      if (shardCount === 1) return admitting;
      return admitting.then(async (first) => {
        if (first.kind === 'admitted') return first;
        const distance = 1 + Math.floor(randomness.fraction() * (shardCount - 1));
        const second = await admitOn(admission, (shard + distance) % shardCount, shardCount);
        if (second.kind === 'admitted') return second;
        return { kind: 'limited', retryAfterMs: Math.min(first.retryAfterMs, second.retryAfterMs) };
      });
    },

    settle(permit, actualTokens, { isAwaited = false } = {}) {
      const actual = BigInt(Math.max(0, Math.ceil(actualTokens)));
      return close(permit, ({ window, amount }) => (window === requestsPerMinute ? amount : actual), isAwaited);
    },

    release: (permit) => close(permit, () => 0n, true),
  };
}

/** Each permit is a separate object, because a permit is closed once. */
const noCounts = (): Permit => ({ key: '', id: '', countedAtMs: 0, demands: [] });

const expiryOf = (nowMs: number): number => ((Math.floor(nowMs / dayMs) + retentionDays) * dayMs) / 1_000;
