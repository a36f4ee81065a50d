// Names of what happened lately, and nothing else of it. Bounded, and each is forgotten after a while.
import type { Clock } from '../time/index.ts';

export interface RecentNames {
  note(name: string): void;
  /** It was noted within the last `keptMs`, as far as this instance knows. */
  isNoted(name: string): boolean;
}

export function createRecentNames(options: {
  readonly clock: Clock;
  readonly namesMax: number;
  readonly keptMs: number;
}): RecentNames {
  const { clock, namesMax, keptMs } = options;
  /** A Map keeps the order of insertion: the first name is the one that was noted longest ago. */
  const untilMs = new Map<string, number>();
  return {
    note(name) {
      untilMs.delete(name);
      untilMs.set(name, clock.nowMs() + keptMs);
      const [oldest] = untilMs.keys();
      if (untilMs.size > namesMax && oldest !== undefined) untilMs.delete(oldest);
    },
    isNoted: (name) => (untilMs.get(name) ?? Number.NEGATIVE_INFINITY) > clock.nowMs(),
  };
}
