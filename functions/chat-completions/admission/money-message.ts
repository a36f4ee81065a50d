import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';

/** Contract 6: a 402 names what the call may cost and what is available. */
export const insufficientMessage = (what: string, needed: PicoUsd, available: PicoUsd): string =>
  `The call may cost ${formatUsd(needed)} USD, and ${formatUsd(available < 0n ? 0n : available)} USD of ${what} is available.`;
