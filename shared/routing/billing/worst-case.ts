// The most a call can cost: what is held before any provider is called (contract 6), so that no number of parallel
// calls can spend more than there is.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { type PicoUsd, priceOf } from '../../foundation/money/index.ts';

export interface CallSize {
  /** Bytes of the provider-bound body. A token is at least one byte of it, whatever the tokenizer. */
  readonly bodyBytes: number;
  /** Images, audio or files: a link of a few bytes may be thousands of tokens, so only the context bounds them. */
  readonly hasMedia: boolean;
  /** Output tokens the client asked for at most; undefined: the provider's own limit. */
  readonly maxOutputTokens: number | undefined;
  /** `n`. */
  readonly choices: number;
  /** Answers that may be charged: more than one where an output is checked and asked for again. */
  readonly answersMax: number;
}

/** A quintillion dollars: nobody's credit covers it, and the store keeps numbers of up to 38 digits. */
const worstCaseMax: PicoUsd = 10n ** 30n;

/** At the dearest candidate's price: which one will answer is not known yet. At most `worstCaseMax`. */
export function worstCaseCost(candidates: readonly Candidate[], size: CallSize): PicoUsd {
  let dearest: PicoUsd = 0n;
  for (const candidate of candidates) {
    const cost = costAt(candidate, size);
    if (cost > dearest) dearest = cost;
  }
  return dearest < worstCaseMax ? dearest : worstCaseMax;
}

function costAt({ entry, provider, prices }: Candidate, size: CallSize): PicoUsd {
  const inputTokens = size.hasMedia ? entry.context_length : Math.min(size.bodyBytes, entry.context_length);
  const asked = size.maxOutputTokens ?? entry.max_output_tokens;
  // Additive reasoning comes on top of what was asked for, within the provider's own limit.
  const reasoning = provider.reasoning_tokens === 'additive' ? entry.max_output_tokens : 0;
  const outputTokens = (asked + reasoning) * size.choices;
  const one = priceOf(inputTokens, prices.input ?? 0n) + priceOf(outputTokens, prices.output ?? 0n);
  return one * BigInt(size.answersMax);
}
