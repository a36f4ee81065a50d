// How many refused calls of a key leave a record: a client that repeats a call which cannot succeed must not fill the
// table at the price of nothing. What is beyond stands in the log only.
import { createCache } from '../../foundation/cache/index.ts';
import { cachedKeysMax, refusalRecordsPerSecond } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';

export interface RefusalQuota {
  /** Whether one more refused call of this key is recorded. In any second at most `refusalRecordsPerSecond` are. */
  take(keyPublicId: string): boolean;
}

const windowMs = 1_000;

/** Of one process. */
export function createRefusalQuota(clock: Clock): RefusalQuota {
  /** When the last ones were recorded. A key without calls for a second is as good as a new one. */
  const recorded = createCache<readonly number[]>({ sizeMax: cachedKeysMax, age: { freshMs: windowMs, clock } });
  return {
    take(keyPublicId) {
      const nowMs = clock.nowMs();
      const within = (recorded.get(keyPublicId) ?? []).filter((atMs) => atMs > nowMs - windowMs);
      if (within.length >= refusalRecordsPerSecond) return false;
      recorded.set(keyPublicId, [...within, nowMs]);
      return true;
    },
  };
}
