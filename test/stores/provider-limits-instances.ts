// Gateway instances that share one store: each limiter is a process with a memory of its own.
import { createCounters } from '../../shared/accounting/holds/index.ts';
import {
  type Admission,
  createProviderLimiter,
  type Permit,
  type ProviderLimiter,
} from '../../shared/accounting/limits/index.ts';
import { type Randomness, systemRandomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';

/** Counts reads and updates, the only calls that a limiter makes. */
export function countingCalls(real: Store): { store: Store; calls: { reads: number; writes: number } } {
  const calls = { reads: 0, writes: 0 };
  const store: Store = {
    ...real,
    get: (...call) => {
      calls.reads += 1;
      return real.get(...call);
    },
    update: (...call) => {
      calls.writes += 1;
      return real.update(...call);
    },
  };
  return { store, calls };
}

/** Randomness that always selects the first shard. */
export const firstShard: Randomness = { ...systemRandomness, fraction: () => 0 };

export const startLimiter = (store: Store, clock: Clock, randomness = firstShard): ProviderLimiter => {
  const { writer } = createCounters({ store, clock, randomness: systemRandomness });
  return createProviderLimiter({ writer, clock, randomness });
};

export const startLimiters = (count: number, store: Store, clock: Clock): ProviderLimiter[] =>
  Array.from({ length: count }, () => startLimiter(store, clock));

/** Returns a clock that is ahead of another one, or behind it. */
export const skewed = (clock: Clock, byMs: number): Clock => ({ ...clock, nowMs: () => clock.nowMs() + byMs });

export const noLimits = { rpm: null, tpm: null, tpd: null };

export function permitOf(admission: Admission | undefined): Permit {
  if (admission?.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(admission)}`);
  return admission.permit;
}

export function waitOf(admission: Admission | undefined): number {
  if (admission?.kind !== 'limited') throw new Error(`not limited: ${admission?.kind}`);
  return admission.retryAfterMs;
}

export const countAdmitted = (admissions: readonly Admission[]): number =>
  admissions.filter(({ kind }) => kind === 'admitted').length;

/** Requests all of these tokens at once, over all instances in turn. */
export const admitAtOnce = (
  limiters: readonly ProviderLimiter[],
  entry: { provider: string; model: string },
  limits: { rpm: number | null; tpm: number | null; tpd: number | null },
  estimates: readonly number[],
): Promise<Admission[]> =>
  Promise.all(
    estimates.map((tokens, index) => {
      const limiter = limiters[index % limiters.length];
      if (limiter === undefined) throw new Error('no limiter');
      return limiter.admit(entry, limits, { tokens, requests: 1 });
    }),
  );

/** Sums the parts of an item, including expired ones until they are removed. */
export function countsIn(item: Item | undefined): { requests: number; minuteTokens: number; dayTokens: number } {
  const sum = (letter: string) =>
    Object.entries(item ?? {}).reduce(
      (total, [name, value]) => total + (name.startsWith(letter) ? Number(value) : 0),
      0,
    );
  return { requests: sum('R'), minuteTokens: sum('T'), dayTokens: sum('D') };
}
