// Formats amounts for people. All amounts of a column have the same number of decimals, so that their points align and
// `24.952` is not read as thousands.
import { none } from './shown-values.ts';

export type UsdFormat = (text: string | null) => string;

const centDecimals = 2;
const columnDecimalsMax = 4;
const picoDecimals = 12;
/** Number of digits that the smallest amount of a column shows, and the largest if all amounts are tiny. */
const smallestDigits = 2;
const tinyDigits = 3;
const tinyBelow = 0.01;

/** Returns the number of decimals with which an amount shows `digits` digits: for 3 digits 0.0042 becomes 0.00420. */
const decimalsOf = (size: number, digits: number): number => digits - 1 - Math.floor(Math.log10(size));

const fractionOf = (text: string): number => (text.includes('.') ? text.length - text.indexOf('.') - 1 : 0);

function decimalsFor(amounts: readonly string[], isExact: boolean): number {
  const longest = Math.min(picoDecimals, Math.max(0, ...amounts.map(fractionOf)));
  if (isExact) return Math.max(centDecimals, longest);
  const sizes = amounts.map((text) => Math.abs(Number(text))).filter((size) => size > 0);
  if (sizes.length === 0) return centDecimals;
  const largest = Math.max(...sizes);
  const decimals =
    largest < tinyBelow
      ? decimalsOf(largest, tinyDigits)
      : Math.min(columnDecimalsMax, decimalsOf(Math.min(...sizes), smallestDigits));
  return Math.max(centDecimals, Math.min(decimals, longest));
}

/** Returns a format for these amounts. `isExact` shows all decimals, as for prices and limits. */
export function usdAlike(amounts: readonly (string | null)[], isExact = false): UsdFormat {
  const decimals = decimalsFor(
    amounts.filter((text) => text !== null),
    isExact,
  );
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const smallest = 10 ** -decimals;
  return (text) => {
    if (text === null) return none;
    const amount = Number(text);
    const size = Math.abs(amount);
    const sign = amount < 0 ? '−' : '';
    return size > 0 && size < smallest / 2 ? `<${sign}$${format.format(smallest)}` : `${sign}$${format.format(size)}`;
  };
}

/** Returns a calculated amount as the text that an answer would have. */
export const amountText = (amount: number): string => amount.toFixed(picoDecimals).replace(/\.?0+$/, '');

export const usd: UsdFormat = (text) => usdAlike([text])(text);

/** Formats a price or a limit. */
export const exactUsd: UsdFormat = (text) => usdAlike([text], true)(text);

/** Formats an amount. If the amount has more digits, its exact value follows. */
export function usdWithDigits(text: string): string {
  const short = usd(text);
  return Number(short.replaceAll(/[^\d.]/g, '')) === Math.abs(Number(text)) ? short : `${short} (${text} USD)`;
}
