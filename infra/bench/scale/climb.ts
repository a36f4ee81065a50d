// Climbs from rate to rate: at each, the limits it runs into, lowest first, lifted one after the other until it fits.
import { amountOf } from './counted.ts';
import { type Limit, limits, tableLimit } from './limits.ts';
import { environmentsOf, type Setup } from './setup.ts';

export interface BrokenLimit {
  readonly name: string;
  readonly atPerSecond: number;
  readonly beyond: string;
  /** Undefined: it is lived with. */
  readonly setting: string | undefined;
}

export interface Step {
  readonly perSecond: number;
  readonly broken: readonly BrokenLimit[];
  /** As it stands when all of them are lifted. */
  readonly setup: Setup;
  readonly environments: number;
}

/** Each limit is lifted a few times at most: by a setting, and by the next one where that is not enough. */
const liftsMax = 30;

/** Settings stay lifted for the steps that follow. */
export function climb(start: Setup, rates: readonly number[]): Step[] {
  const steps: Step[] = [];
  let setup = start;
  for (const perSecond of rates) {
    const broken: BrokenLimit[] = [];
    const livedWith = new Set<string>();
    for (let lifted = 0; lifted < liftsMax; lifted += 1) {
      const first = firstBroken(setup, perSecond, livedWith);
      if (first === undefined) break;
      const lift = first.lift(setup, perSecond);
      const atPerSecond = Math.floor(first.callsPerSecondMax(setup));
      broken.push({ name: first.name, atPerSecond, beyond: first.beyond, setting: lift?.setting });
      if (lift === undefined) livedWith.add(first.name);
      else setup = lift.setup;
    }
    const environments = environmentsOf(setup, perSecond, amountOf('callsPerWebEnvironment'));
    steps.push({ perSecond, broken, setup, environments });
  }
  return steps;
}

function firstBroken(setup: Setup, perSecond: number, livedWith: ReadonlySet<string>): Limit | undefined {
  const isBroken = (limit: Limit) => !livedWith.has(limit.name) && limit.callsPerSecondMax(setup) < perSecond;
  const [lowest] = limits.filter(isBroken).toSorted((a, b) => a.callsPerSecondMax(setup) - b.callsPerSecondMax(setup));
  return lowest ?? (isBroken(tableLimit) ? tableLimit : undefined);
}
