// The price of a call. Integers only: one function for JSON and streams, so both cost the same.
import type { CandidatePrices, TokenPrices } from '../../configuration/catalogue/index.ts';
import { type PicoUsd, priceOf, type TokenPrice } from '../../foundation/money/index.ts';
import type { MediaKind } from '../../protocol/wire/index.ts';
import type { BilledUsage } from './billed-usage.ts';

export const inputMedia: readonly MediaKind[] = ['audioInput', 'imageInput'];
export const outputMedia: readonly MediaKind[] = ['audioOutput', 'imageOutput'];

export interface Cost {
  readonly prompt: PicoUsd;
  readonly completion: PicoUsd;
  readonly total: PicoUsd;
}

/** A price of null cannot be billed and costs nothing here: such an entry serves BYOK calls only. */
export function costOf(usage: BilledUsage, candidatePrices: CandidatePrices): Cost {
  const { promptTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const prices = pricesAt(candidatePrices, promptTokens);
  const prompt =
    mixedCost(promptTokens - cachedTokens - cacheWriteTokens, prices.input, inputMedia, usage, prices) +
    priceOf(cachedTokens, prices.cachedInput ?? 0n) +
    priceOf(cacheWriteTokens - cacheWrite1hTokens, prices.cacheWrite ?? 0n) +
    priceOf(cacheWrite1hTokens, prices.cacheWrite1h ?? 0n);
  const completion = mixedCost(usage.completionTokens, prices.output, outputMedia, usage, prices);
  return { prompt, completion, total: prompt + completion };
}

/** Media without a price of their own cost the same as text. */
function mixedCost(
  tokens: number,
  textPrice: TokenPrice | null,
  kinds: readonly MediaKind[],
  { media }: BilledUsage,
  prices: TokenPrices,
): PicoUsd {
  let textTokens = tokens;
  let cost: PicoUsd = 0n;
  for (const kind of kinds) {
    const price = prices.media[kind];
    if (price === undefined) continue;
    const count = Math.min(media[kind] ?? 0, textTokens);
    textTokens -= count;
    cost += priceOf(count, price);
  }
  return cost + priceOf(textTokens, textPrice ?? 0n);
}

/** A prompt that is longer than the bound of a tier is priced by it, and with it all of the call. */
const pricesAt = (prices: CandidatePrices, promptTokens: number): TokenPrices =>
  prices.tiers.findLast(({ abovePromptTokens }) => promptTokens > abovePromptTokens) ?? prices;

/** All prices that a call can have whose prompt has at most so many tokens. */
export const pricesUpTo = (prices: CandidatePrices, promptTokensMax: number): readonly TokenPrices[] => [
  prices,
  ...prices.tiers.filter(({ abovePromptTokens }) => promptTokensMax > abovePromptTokens),
];

export const noCost: Cost = { prompt: 0n, completion: 0n, total: 0n };

export const addCosts = (a: Cost, b: Cost): Cost => ({
  prompt: a.prompt + b.prompt,
  completion: a.completion + b.completion,
  total: a.total + b.total,
});
