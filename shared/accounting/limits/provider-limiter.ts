// Provider admission: rpm, tpm and tpd of an entry hold across any number of gateway instances, because the write that
// counts a call is the decision itself. An admission is one write where the window is known and open.
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { CallOptions, Store } from '../../storage/store/index.ts';
import type { Amounts } from './correction-update.ts';
import { createCounterStore, type Taken } from './counter-store.ts';
import { counterKeyOf } from './counters.ts';
import { counterNames, type Demands, demandsOf, type EntryLimits, hasNoLimit, type LimitedEntry } from './limits.ts';
import { shardCountOf, shardLimitsOf } from './shards.ts';

/** What one call has taken. Hand it back to the limiter that gave it, once. */
export interface Permit {
  readonly key: string;
  readonly minute: number;
  /** Only counters that have a limit. */
  readonly taken: Amounts;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly permit: Permit }
  /** The time until this very estimate fits, if nobody else is admitted before. Hours where a day's tokens are used up. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/**
 * All three reject with StoreUnavailable. `settle` and `giveBack` count once per permit, whichever comes first, and do
 * nothing after that; one that was rejected may be called again. If its answer was lost it has then counted twice,
 * which is off by one call's tokens at most and, like a permit that nobody settles, heals with the window.
 */
export interface ProviderLimiter {
  /** Without any limit the store is not asked. An estimate above a limit is cut to it. */
  admit(entry: LimitedEntry, limits: EntryLimits, estimatedTokens: number, options?: CallOptions): Promise<Admission>;
  /** The provider was called and this is what the call took in tokens: 0 is a count. */
  settle(permit: Permit, actualTokens: number, options?: CallOptions): Promise<void>;
  /** The provider was never called: the request and its tokens count no more. */
  giveBack(permit: Permit, options?: CallOptions): Promise<void>;
}

export interface ProviderLimiterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

const unlimitedPermit = (): Permit => ({ key: '', minute: 0, taken: {} });

export function createProviderLimiter({ store, clock, randomness }: ProviderLimiterOptions): ProviderLimiter {
  const counters = createCounterStore({ store, clock });
  const closed = new WeakSet<Permit>();

  async function admitOn(
    shard: number,
    shardCount: number,
    [entry, limits, tokens]: readonly [LimitedEntry, EntryLimits, number],
    options: CallOptions | undefined,
  ): Promise<Admission> {
    const key = counterKeyOf(entry, shard);
    const demands = demandsOf(shardLimitsOf(limits, shard, shardCount), tokens);
    return admissionOf(key, demands, await counters.take(key, demands, options));
  }

  async function close(permit: Permit, changes: Amounts, options: CallOptions | undefined): Promise<void> {
    if (closed.has(permit)) return;
    closed.add(permit);
    try {
      await counters.correct(permit.key, permit.minute, changes, options);
    } catch (error) {
      closed.delete(permit);
      throw error;
    }
  }

  return {
    async admit(entry, limits, estimatedTokens, options) {
      if (hasNoLimit(limits)) return { kind: 'admitted', permit: unlimitedPermit() };
      const asked = [entry, limits, estimatedTokens] as const;
      const shardCount = shardCountOf(limits);
      const shard = Math.floor(randomness.fraction() * shardCount);
      const first = await admitOn(shard, shardCount, asked, options);
      if (first.kind === 'admitted' || shardCount === 1) return first;
      const distance = 1 + Math.floor(randomness.fraction() * (shardCount - 1));
      const second = await admitOn((shard + distance) % shardCount, shardCount, asked, options);
      if (second.kind === 'admitted') return second;
      return { kind: 'limited', retryAfterMs: Math.min(first.retryAfterMs, second.retryAfterMs) };
    },

    settle(permit, actualTokens, options) {
      const { minuteTokens, dayTokens } = permit.taken;
      const actual = Math.max(0, Math.ceil(actualTokens));
      const changes = {
        ...(minuteTokens === undefined ? {} : { minuteTokens: actual - minuteTokens }),
        ...(dayTokens === undefined ? {} : { dayTokens: actual - dayTokens }),
      };
      return close(permit, changes, options);
    },

    giveBack(permit, options) {
      const changes = Object.entries(permit.taken).map(([name, amount]) => [name, -amount]);
      return close(permit, Object.fromEntries(changes), options);
    },
  };
}

function admissionOf(key: string, demands: Demands, taken: Taken): Admission {
  if (taken.kind === 'limited') return taken;
  const limited = counterNames.filter((name) => demands[name].limit !== null);
  const amounts = Object.fromEntries(limited.map((name) => [name, demands[name].need]));
  return { kind: 'admitted', permit: { key, minute: taken.minute, taken: amounts } };
}
