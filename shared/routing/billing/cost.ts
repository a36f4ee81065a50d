// Computes the price of a call. The computation uses only integers, in one function for JSON and streams, so both cost
// the same.
import { type CandidatePrices, isImagePriceGuessed, type TokenPrices } from '../../configuration/catalogue/index.ts';
import { type PicoUsd, priceOf, type TokenPrice } from '../../foundation/money/index.ts';
import type { MediaKind } from '../../protocol/wire/index.ts';
import type { BilledUsage } from './billed-usage.ts';
import { inputMedia, outputMedia, pricesAt } from './call-prices.ts';
import { type UnitCosts, unitCosts, wholeCost } from './unit-cost.ts';

export interface Cost {
  readonly prompt: PicoUsd;
  readonly completion: PicoUsd;
  readonly total: PicoUsd;
}

/**
 * Returns the cost. A price of null cannot be billed and costs nothing here, because an entry with this price serves
 * BYOK calls only.
 */
export function costOf(usage: BilledUsage, candidatePrices: CandidatePrices): Cost {
  const { promptTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const prices = pricesAt(candidatePrices, promptTokens);
  const units = unitCosts(candidatePrices, usage.units);
  const byUnits = unitBilled(usage, candidatePrices, units);
  const request = units.request?.total ?? 0n;
  if (byUnits.whole !== undefined) return costFrom(byUnits.whole + request, 0n);
  const prompt =
    request +
    mixedCost(promptTokens - cachedTokens - cacheWriteTokens, prices.input, inputMedia, usage, prices) +
    priceOf(cachedTokens, prices.cachedInput ?? 0n) +
    priceOf(cacheWriteTokens - cacheWrite1hTokens, prices.cacheWrite ?? 0n) +
    priceOf(cacheWrite1hTokens, prices.cacheWrite1h ?? 0n);
  const completion = byUnits.output ?? mixedCost(usage.completionTokens, prices.output, outputMedia, usage, prices);
  return costFrom(prompt, completion);
}

const costFrom = (prompt: PicoUsd, completion: PicoUsd): Cost => ({ prompt, completion, total: prompt + completion });

interface UnitBilled {
  /** The price of the whole call. */
  readonly whole?: PicoUsd | undefined;
  /** The price of its output. */
  readonly output?: PicoUsd | undefined;
}

/** Returns the billed units. If reported tokens have a price, they are billed instead. */
function unitBilled({ units, reportedCounts }: BilledUsage, prices: CandidatePrices, costs: UnitCosts): UnitBilled {
  if (units === undefined || prices.units === undefined) return {};
  const hasOutputPrice = isPriced([prices.output, ...outputMedia.map((kind) => prices.media[kind])]);
  const hasInputPrice = isPriced([prices.input, ...inputMedia.map((kind) => prices.media[kind])]);
  const whole = wholeCost(costs);
  const isByTokens = (reportedCounts?.input && hasInputPrice) || (reportedCounts?.output && hasOutputPrice);
  if (whole !== undefined) return isByTokens ? {} : { whole };
  return reportedCounts?.output && hasOutputPrice ? {} : { output: costs.image?.total };
}

/** True if no estimated number of tokens is in the price. */
export function isExactByUnits(usage: BilledUsage, prices: CandidatePrices): boolean {
  const { whole, output } = unitBilled(usage, prices, unitCosts(prices, usage.units));
  if (usage.reportedCounts?.requests === true && !isPriced([prices.input, prices.output])) return true;
  return (
    whole !== undefined || (output !== undefined && (usage.reportedCounts?.input === true || !isPriced([prices.input])))
  );
}

/**
 * True if the price of its images is uncertain, because neither the request nor the answer states their size or
 * quality.
 */
export function isGuessedByUnits(usage: BilledUsage, prices: CandidatePrices): boolean {
  const { output } = unitBilled(usage, prices, unitCosts(prices, usage.units));
  const images = output === undefined ? undefined : usage.units?.images;
  return images !== undefined && prices.units !== undefined && isImagePriceGuessed(prices.units, images);
}

const isPriced = (prices: readonly (TokenPrice | null | undefined)[]): boolean =>
  prices.some((price) => (price ?? 0n) > 0n);

/** Returns the cost of mixed tokens; media without a price of their own cost the same as text. */
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

export const noCost: Cost = { prompt: 0n, completion: 0n, total: 0n };

export const addCosts = (a: Cost, b: Cost): Cost => ({
  prompt: a.prompt + b.prompt,
  completion: a.completion + b.completion,
  total: a.total + b.total,
});
