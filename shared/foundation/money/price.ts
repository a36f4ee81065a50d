// Prices are USD per million tokens with up to six decimals, so a price per token is a whole number of pico-USD.
import { type PicoUsd, parseUsd } from './amount.ts';

/** Pico-USD per token. */
export type TokenPrice = bigint;

const tokensPerPrice = 1_000_000n;
const priceDecimalsMax = 6;

/** Reads "2.50" (USD per million tokens). Undefined when it is no decimal or has more than six decimals. */
export function parsePricePerMillion(text: string): TokenPrice | undefined {
  const decimals = text.split('.')[1]?.length ?? 0;
  const perMillion = decimals > priceDecimalsMax ? undefined : parseUsd(text);
  return perMillion === undefined ? undefined : perMillion / tokensPerPrice;
}

/** The price of some tokens. Exact: both factors are integers. */
export const priceOf = (tokens: number, perToken: TokenPrice): PicoUsd => BigInt(tokens) * perToken;
