// Credit that each call reserved of its workspace, in their order.
import type { Composition } from '../../shared/composition/index.ts';
import type { PicoUsd } from '../../shared/foundation/money/index.ts';

export interface RecordedHolds {
  readonly holds: PicoUsd[];
  /** For `startHarness`. */
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
