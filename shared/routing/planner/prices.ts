// What a candidate costs, as far as planning asks. A price that is null is unknown, never free.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import type { ProviderPreferences } from '../../protocol/wire/index.ts';

/** Without both prices nothing can be billed, so such an entry serves BYOK calls only. */
export const isBillable = ({ prices }: Candidate): boolean => prices.input !== null && prices.output !== null;

/** Input plus output price, in pico-USD per token: what `auto` and the default order go by. Unknown prices add nothing. */
export const totalPrice = ({ prices }: Candidate): bigint => (prices.input ?? 0n) + (prices.output ?? 0n);

const tokensPerCap = 1_000_000n;

/** An unknown price cannot be promised to lie under a cap. */
export function isUnderCap({ prices }: Candidate, { prompt, completion }: ProviderPreferences['maxPrice']): boolean {
  const isUnder = (price: bigint | null, cap: bigint | undefined) =>
    cap === undefined || (price !== null && price * tokensPerCap <= cap);
  return isUnder(prices.input, prompt) && isUnder(prices.output, completion);
}
