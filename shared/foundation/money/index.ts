export { formatUsd, type PicoUsd, parseUsd, toUsdNumber } from './amount.ts';
export { parsePricePerMillion, priceOf, type TokenPrice } from './price.ts';
