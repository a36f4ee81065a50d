// Computes the price of images, characters, seconds and requests.
import { type CandidatePrices, imagePriceOf, isOpenWord } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { OutputSize, Units } from '../../protocol/wire/index.ts';

/** Units by their names in `provider.max_price`. */
type PricedUnit = 'request' | 'image' | 'second' | 'character';

interface UnitCost {
  readonly each: PicoUsd;
  readonly total: PicoUsd;
}

/** Costs of the units of a call that have a price. */
export type UnitCosts = Readonly<Partial<Record<PricedUnit, UnitCost | undefined>>>;

export const noUnitCosts: UnitCosts = {};

/** Returns the costs. `units` are the most that a call can have, or those that the answer had. */
export function unitCosts({ units: prices }: Pick<CandidatePrices, 'units'>, units: Units = {}): UnitCosts {
  if (prices === undefined) return noUnitCosts;
  const { images, characters, seconds, requests = 1 } = units;
  return {
    request: requests === 0 ? undefined : costOf(prices.request, requests),
    image: images && costOf(imagePriceOf(prices, images), images.count),
    second: seconds === undefined ? undefined : costOfTime(prices.second, seconds),
    character: characters === undefined ? undefined : costOf(prices.character, characters),
  };
}

const costOf = (each: PicoUsd | undefined, count: number): UnitCost | undefined =>
  each === undefined ? undefined : { each, total: BigInt(count) * each };

const msPerSecond = 1_000;

/** Returns the cost of time, to the millisecond, rounded up. */
function costOfTime(each: PicoUsd | undefined, seconds: number): UnitCost | undefined {
  if (each === undefined) return undefined;
  const ms = BigInt(Math.ceil(seconds * msPerSecond));
  const divisor = BigInt(msPerSecond);
  return { each, total: (ms * each + divisor - 1n) / divisor };
}

/** Returns the cost of characters or seconds, which is the price of the whole call; undefined if they have none. */
export const wholeCost = ({ character, second }: UnitCosts): PicoUsd | undefined =>
  character === undefined && second === undefined ? undefined : (character?.total ?? 0n) + (second?.total ?? 0n);

/**
 * Returns units that never exceed the reserved units. The answer's size and quality count only if the request left them
 * open.
 */
export function unitsWithin(requestUnits: Units, came: Units): Units {
  const { images, characters, seconds, secondsMax, requests } = requestUnits;
  return {
    images: images && {
      size: isOpenWord(images.size) ? (came.images?.size ?? images.size) : images.size,
      quality: isOpenWord(images.quality) ? (came.images?.quality ?? images.quality) : images.quality,
      count: Math.min(images.count, came.images?.count ?? images.count),
    },
    characters,
    // The reported seconds count up to `secondsMax`, whatever the head of the file states.
    seconds: seconds === undefined ? undefined : atMost(secondsMax ?? seconds, came.seconds ?? seconds),
    requests: atMost(requests, came.requests),
  };
}

const atMost = (most: number | undefined, came: number | undefined): number | undefined =>
  most === undefined ? undefined : Math.min(most, came ?? most);

/**
 * Output tokens of a minute of speech (openai.com/api/pricing, gpt-4o-mini-tts, November 2026), which has 900
 * characters.
 */
const tokensPerMinute = 1_250;
const charactersPerMinute = 900;

/**
 * Returns tokens of speech that its provider does not report; undefined if characters have a price, or there are
 * none.
 */
export const unreportedSpeechTokens = ({ characters }: Units, prices: CandidatePrices): number | undefined =>
  characters === undefined || prices.units?.character !== undefined
    ? undefined
    : Math.ceil((characters * tokensPerMinute) / charactersPerMinute);

/** Returns tokens of images that are priced by token: the upper bound of each image in the answer. */
export function unreportedImageTokens(
  { images }: Units,
  { choices }: OutputSize,
  outputTokensMax: number,
  prices: CandidatePrices,
): number | undefined {
  if (images === undefined) return undefined;
  if (prices.units !== undefined && imagePriceOf(prices.units, images) !== undefined) return 0;
  return Math.ceil((outputTokensMax * images.count) / choices);
}
