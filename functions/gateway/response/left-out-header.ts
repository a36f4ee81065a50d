import { headerNames } from '../../../shared/foundation/constants/index.ts';

/** Reports to the client the parts of its request that did not reach the provider; empty if all parts did. */
export const leftOutHeader = (leftOut: readonly string[]): Readonly<Record<string, string>> =>
  leftOut.length === 0 ? {} : { [headerNames.leftOut]: leftOut.join(',') };
