import { headerNames } from '../../../shared/foundation/constants/index.ts';

/** Reports to the client the parts of its request that did not reach the provider; empty where all of them did. */
export const leftOutHeader = (leftOut: readonly string[]): Readonly<Record<string, string>> =>
  leftOut.length === 0 ? {} : { [headerNames.leftOut]: leftOut.join(',') };
