// Credit that each call reserved on its workspace, in the order of the calls.
import type { Composition } from '../../shared/composition/index.ts';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';

export interface RecordedHolds {
  readonly holds: PicoUsd[];
  /** Option for `startHarness`. */
  readonly replace: (composition: Composition) => Pick<Composition, 'credit'>;
}

export function recordHolds(): RecordedHolds {
  const holds: PicoUsd[] = [];
  return {
    holds,
    replace: ({ credit }) => ({
      credit: {
        ...credit,
        take(account, hold) {
          holds.push(hold.amount);
          return credit.take(account, hold);
        },
      },
    }),
  };
}
