import { formatUsd, type PicoUsd } from '../../../shared/foundation/money/index.ts';

export interface Shortage {
  readonly needed: PicoUsd;
  readonly available: PicoUsd;
  /** The call named no bound for its output, so the model's whole `max_output_tokens` counts. */
  readonly isUnbounded: boolean;
}

/** A 402 names what the call may cost and what is available. */
export function insufficientMessage(what: string, { needed, available, isUnbounded }: Shortage): string {
  const amounts = `The call may cost ${formatUsd(needed)} USD, and ${formatUsd(available < 0n ? 0n : available)} USD of ${what} is available.`;
  return isUnbounded
    ? `${amounts} Without max_tokens (on Responses max_output_tokens) a call holds the price of all that the model may write.`
    : amounts;
}
