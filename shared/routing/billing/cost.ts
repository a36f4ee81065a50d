// The price of a call. Integers only: one function for JSON and streams, so both cost the same.
import type { CandidatePrices } from '../../configuration/catalogue/index.ts';
import { type PicoUsd, priceOf } from '../../foundation/money/index.ts';
import type { BilledUsage } from './billed-usage.ts';

export interface Cost {
  readonly prompt: PicoUsd;
  readonly completion: PicoUsd;
  readonly total: PicoUsd;
}

/** A price of null cannot be billed and costs nothing here: such an entry serves BYOK calls only. */
export function costOf(usage: BilledUsage, prices: CandidatePrices): Cost {
  const { promptTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const prompt =
    priceOf(promptTokens - cachedTokens - cacheWriteTokens, prices.input ?? 0n) +
    priceOf(cachedTokens, prices.cachedInput ?? 0n) +
    priceOf(cacheWriteTokens - cacheWrite1hTokens, prices.cacheWrite ?? 0n) +
    priceOf(cacheWrite1hTokens, prices.cacheWrite1h ?? 0n);
  const completion = priceOf(usage.completionTokens, prices.output ?? 0n);
  return { prompt, completion, total: prompt + completion };
}

export const noCost: Cost = { prompt: 0n, completion: 0n, total: 0n };

export const addCosts = (a: Cost, b: Cost): Cost => ({
  prompt: a.prompt + b.prompt,
  completion: a.completion + b.completion,
  total: a.total + b.total,
});
