// Plans of storms: which command gets which fault.
import type { TableName } from '../../shared/foundation/constants/index.ts';
import { behaviours } from './fault-file.ts';
import type { FaultPlan, StoreFault } from './faulty-client.ts';
import { everyBehaviour, type MixedCall } from './mixed-calls.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface Storm {
  readonly name: string;
  readonly plan: (random: SeededRandom) => FaultPlan;
  /** Behaviours of providers that the mixed calls use. */
  readonly behaviours: readonly string[];
  readonly first?: (random: SeededRandom) => readonly MixedCall[];
  /**
   * Whether an outage may be longer than every retry of a settlement; then its record and its credit may differ, and
   * the log reports it.
   */
  readonly outlastsSettlement?: boolean;
}

const good = ['echo', 'reasoning', 'slow-chunks', 'usage-on-content', 'two-choices'];

/** Returns a plan in which each command gets each fault with its probability. */
const byChance =
  (chances: Partial<Record<StoreFault, number>>) =>
  (random: SeededRandom): FaultPlan =>
  () => {
    let drawn = random.fraction();
    for (const [fault, chance] of Object.entries(chances) as [StoreFault, number][]) {
      if (drawn < chance) return fault;
      drawn -= chance;
    }
    return undefined;
  };

const regions: readonly (readonly TableName[] | 'everything')[] = [
  ['ledger'],
  ['idempotency', 'spans'],
  ['keys'],
  'everything',
  ['records', 'statistics'],
  ['limits', 'config', 'connections', 'functions', 'cache'],
];

/**
 * Commands without faults, before one region refuses connections for a number of commands, and then the next region.
 */
const commandsOfPeace = 150;
const commandsRefused = 120;

function regionByRegion(): FaultPlan {
  let peaceful = 0;
  let refusals = 0;
  let turn = 0;
  return ({ table }) => {
    if (peaceful < commandsOfPeace) {
      peaceful += 1;
      return undefined;
    }
    const region = regions[turn % regions.length] ?? 'everything';
    if (region !== 'everything' && !region.includes(table)) return undefined;
    refusals += 1;
    if (refusals >= commandsRefused) {
      peaceful = 0;
      refusals = 0;
      turn += 1;
    }
    return 'refused';
  };
}

export const storms: readonly Storm[] = [
  { name: 'the store times out', plan: byChance({ silent: 0.02, late: 0.02 }), behaviours: good },
  {
    name: 'the store throttles, and loses answers of what it wrote',
    plan: byChance({ throttled: 0.15, lost: 0.15, failing: 0.05 }),
    behaviours: good,
  },
  { name: 'the store refuses a region', plan: regionByRegion, behaviours: good, outlastsSettlement: true },
  {
    name: 'store and providers misbehave together',
    plan: byChance({ throttled: 0.05, failing: 0.02, refused: 0.02, lost: 0.05, silent: 0.005, late: 0.005 }),
    behaviours,
    first: (random) => everyBehaviour(random, behaviours),
  },
];
