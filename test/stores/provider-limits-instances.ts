// Gateway instances that share one store: each limiter is an instance with a memory of its own.

import {
  type Admission,
  createProviderLimiter,
  type Permit,
  type ProviderLimiter,
} from '../../shared/accounting/limits/index.ts';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { Clock } from '../../shared/foundation/time/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';

/** Updates are all that a limiter sends. */
export function countingWrites(real: Store): { store: Store; writes: () => number } {
  let count = 0;
  const update: Store['update'] = (...call) => {
    count += 1;
    return real.update(...call);
  };
  return { store: { ...real, update }, writes: () => count };
}

/** The first shard, always. */
export const noRandomness: Randomness = { uuid: () => '', bytes: () => Buffer.alloc(0), fraction: () => 0 };

export const startLimiters = (count: number, store: Store, clock: Clock, randomness = noRandomness) =>
  Array.from({ length: count }, () => createProviderLimiter({ store, clock, randomness }));

/** A clock that is ahead of another, or behind it. */
export const skewed = (clock: Clock, byMs: number): Clock => ({ ...clock, nowMs: () => clock.nowMs() + byMs });

export const noLimits = { rpm: null, tpm: null, tpd: null };

export function permitOf(admission: Admission | undefined): Permit {
  if (admission?.kind !== 'admitted') throw new Error(`not admitted: ${JSON.stringify(admission)}`);
  return admission.permit;
}

export function waitOf(admission: Admission | undefined): number {
  if (admission?.kind !== 'limited') throw new Error(`not limited: ${JSON.stringify(admission)}`);
  return admission.retryAfterMs;
}

export const countAdmitted = (admissions: readonly Admission[]): number =>
  admissions.filter(({ kind }) => kind === 'admitted').length;

/** As many at once as there are numbers, over all instances in turn. */
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
      return limiter.admit(entry, limits, tokens);
    }),
  );
