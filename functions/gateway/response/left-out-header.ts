import { headerNames } from '../../../shared/foundation/constants/index.ts';

/** Tells the client which parts of its request did not reach the provider; nothing where all of them did. */
export const leftOutHeader = (leftOut: readonly string[]): Readonly<Record<string, string>> =>
  leftOut.length === 0 ? {} : { [headerNames.leftOut]: leftOut.join(',') };
