// Calculates with money, which is an integer number of pico-USD (1e-12 USD), so that a price per million tokens with
// six decimals times a number of tokens stays exact. Outside of the process amounts are decimal strings, and floats
// only where clients expect a JSON number.

export type PicoUsd = bigint;

const fractionDigits = 12;
const picoPerUsd = 10n ** BigInt(fractionDigits);
const decimalPattern = /^(\d{1,15})(?:\.(\d{1,12}))?$/;

/** Parses a non-negative decimal string of USD, such as "25.00"; returns undefined for any other text. */
export function parseUsd(text: string): PicoUsd | undefined {
  const match = decimalPattern.exec(text);
  if (match === null) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return BigInt(whole) * picoPerUsd + BigInt(fraction.padEnd(fractionDigits, '0'));
}

/**
 * Returns the exact decimal string without trailing zeros: 1_500_000_000_000n is "1.5", 0n is "0". Null means no
 * amount, and stays null.
 */
export function formatUsd<Amount extends PicoUsd | null>(amount: Amount): string | Extract<Amount, null>;
export function formatUsd(amount: PicoUsd | null): string | null {
  if (amount === null) return null;
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(fractionDigits + 1, '0');
  const fraction = digits.slice(-fractionDigits).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -fractionDigits)}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * Returns the nearest JSON number, only for answers, where `usage.cost` must be a number, because a popular client
 * rejects a string.
 */
export const toUsdNumber = (amount: PicoUsd): number =>
  // Both are exact as doubles, so the quotient is rounded once.
  amount <= maxExact && amount >= -maxExact ? Number(amount) / Number(picoPerUsd) : Number(formatUsd(amount));

const maxExact = BigInt(Number.MAX_SAFE_INTEGER);

// Prices are USD per million tokens with up to six decimals, so a price per token is a whole number of pico-USD.

/** Pico-USD per token. */
export type TokenPrice = bigint;

const tokensPerPrice = 1_000_000n;
const priceDecimalsMax = 6;

/**
 * Parses "2.50" (USD per million tokens). Returns undefined for a text that is not a decimal or has more than six
 * decimals.
 */
export function parsePricePerMillion(text: string): TokenPrice | undefined {
  const decimals = text.split('.')[1]?.length ?? 0;
  const perMillion = decimals > priceDecimalsMax ? undefined : parseUsd(text);
  return perMillion === undefined ? undefined : perMillion / tokensPerPrice;
}

/** Returns the price of some tokens, which is exact, because both factors are integers. */
export const priceOf = (tokens: number, perToken: TokenPrice): PicoUsd => BigInt(tokens) * perToken;
