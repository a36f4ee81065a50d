// Converts amounts of other projects' lists to the format of the gateway file.

/**
 * Formats with six decimals, as the file has them. Further decimals are rounded up, because a price that is too low
 * would let a call cost more than it reserves.
 */
export function usdText(usd: number): string {
  const millionths = Math.ceil(Number((usd * 1_000_000).toFixed(3)));
  return (millionths / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
}

/**
 * Formats with as many decimals as the list has, at most twelve, because prices of images, characters and seconds may
 * have them.
 */
export const exactUsdText = (usd: number): string => usd.toFixed(12).replace(/0{1,10}$/, '');
