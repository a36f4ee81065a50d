// Writes the message of a 402. The message states the possible cost of the call, the available amount, and the largest
// output bound that would have been covered.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';
import type { CallSize } from '../../../shared/protocol/wire/index.ts';
import { outputBoundOf, worstCaseCost } from '../../../shared/routing/billing/index.ts';

export interface Shortage {
  readonly needed: PicoUsd;
  readonly available: PicoUsd;
  readonly advise: Advise;
}

/** Advises the client what to send instead. Empty if nothing smaller would help, or if the client cannot choose. */
export type Advise = (available: PicoUsd) => string;

export const noAdvice: Advise = () => '';

/** Describes the possible cost of the call and the available amount. */
export function insufficientMessage(what: string, { needed, available: balance, advise }: Shortage): string {
  const available = balance < 0n ? 0n : balance;
  const amounts = `The call may cost ${formatUsd(needed)} USD, and ${formatUsd(available)} USD of ${what} is available.`;
  return [amounts, advise(available)].filter((text) => text !== '').join(' ');
}

interface BoundedCall {
  /** Candidates whose calls the workspace pays. */
  readonly candidates: readonly Candidate[];
  readonly size: CallSize;
  /** How the client's interface names the bound. */
  readonly member: string;
}

/** Bytes that the bound itself adds to a body without a bound. */
const memberBytes = 40;

export const boundAdvice =
  ({ candidates, size, member }: BoundedCall): Advise =>
  (available) => {
    const requestedTokens = Math.max(0, ...candidates.map(({ entry }) => outputBoundOf(entry, size)));
    if (requestedTokens <= 1) return '';
    const costOf = (tokens: number) =>
      worstCaseCost(candidates, {
        ...size,
        maxOutputTokens: tokens,
        isOutputOpen: false,
        textBytes: size.textBytes + (size.isOutputOpen ? memberBytes : 0),
      });
    const tokens = largestCovered(requestedTokens, (bound) => costOf(bound) <= available);
    const smaller =
      tokens === 0
        ? `Even with ${member} 1 it would need ${formatUsd(costOf(1))} USD.`
        : `With ${member} ${tokens} it would need ${formatUsd(costOf(tokens))} USD, which is covered.`;
    if (!size.isOutputOpen) return smaller;
    return `${smaller} Without max_tokens (on Responses max_output_tokens) ${reservedWithout(candidates)}`;
  };

/** A call that names no bound reserves the operator's default, if every model has a default. */
function reservedWithout(candidates: readonly Candidate[]): string {
  const defaults = candidates.map(({ entry }) => entry.default_output_tokens);
  if (defaults.includes(undefined)) {
    return 'the price of all that the model may write is reserved: the operator can set default_output_tokens.';
  }
  const tokens = Math.max(...defaults.map((value) => value ?? 0));
  return `the price is reserved for ${tokens} tokens, the default_output_tokens that the operator has set.`;
}

/**
 * Returns the largest number of tokens that is covered; 0 if not even one token is covered. `isCovered` must be true up
 * to some number, and false above that number.
 */
function largestCovered(most: number, isCovered: (tokens: number) => boolean): number {
  let [covered, refused] = [0, most];
  while (refused - covered > 1) {
    const middle = Math.floor((covered + refused) / 2);
    if (isCovered(middle)) covered = middle;
    else refused = middle;
  }
  return covered;
}
