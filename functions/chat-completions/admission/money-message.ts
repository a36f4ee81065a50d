import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';

/** Contract 6: a 402 says what the call may cost and what there is. */
export const shortOf = (what: string, needed: PicoUsd, available: PicoUsd): string =>
  `The call may cost ${formatUsd(needed)} USD, and ${formatUsd(available < 0n ? 0n : available)} USD of ${what} is available.`;
