export {
  formatUsd,
  type PicoUsd,
  parsePricePerMillion,
  parseUsd,
  priceOf,
  type TokenPrice,
  toUsdNumber,
} from './money.ts';
