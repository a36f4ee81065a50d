// How often something may happen: so many times at once, and so many a second from then on.
import type { Clock } from '../../foundation/time/index.ts';

interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

export interface RateBound {
  /** False: once too often. */
  take(): boolean;
}

export function createRateBound(clock: Clock, { burst, perSecond }: Rate): RateBound {
  let remaining = burst;
  let countedAtMs = clock.nowMs();
  return {
    take() {
      const nowMs = clock.nowMs();
      remaining = Math.min(burst, remaining + (Math.max(0, nowMs - countedAtMs) / 1_000) * perSecond);
      countedAtMs = nowMs;
      remaining -= 1;
      return remaining >= 0;
    },
  };
}
