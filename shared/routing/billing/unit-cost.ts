// The price of images, characters, seconds and requests.
import { type CandidatePrices, imagePriceOf, isOpenWord } from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { OutputSize, Units } from '../../protocol/wire/index.ts';

/** By their names in `provider.max_price`. */
type PricedUnit = 'request' | 'image' | 'second' | 'character';

interface UnitCost {
  readonly each: PicoUsd;
  readonly total: PicoUsd;
}

/** Units that a call has, and that have a price. */
export type UnitCosts = Readonly<Partial<Record<PricedUnit, UnitCost | undefined>>>;

export const noUnitCosts: UnitCosts = {};

/** `units`: the most that a call can have, or what came of it. */
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

/** To the millisecond, rounded up. */
function costOfTime(each: PicoUsd | undefined, seconds: number): UnitCost | undefined {
  if (each === undefined) return undefined;
  const ms = BigInt(Math.ceil(seconds * msPerSecond));
  const divisor = BigInt(msPerSecond);
  return { each, total: (ms * each + divisor - 1n) / divisor };
}

/** Characters or seconds are the price of all of a call, whatever comes of it; undefined where they have none. */
export const wholeCost = ({ character, second }: UnitCosts): PicoUsd | undefined =>
  character === undefined && second === undefined ? undefined : (character?.total ?? 0n) + (second?.total ?? 0n);

/** Never more than was reserved. Of the answer's words those that the request left open count. */
export function unitsWithin(requestUnits: Units, came: Units): Units {
  const { images, characters, seconds, secondsMax, requests } = requestUnits;
  return {
    images: images && {
      size: isOpenWord(images.size) ? (came.images?.size ?? images.size) : images.size,
      quality: isOpenWord(images.quality) ? (came.images?.quality ?? images.quality) : images.quality,
      count: Math.min(images.count, came.images?.count ?? images.count),
    },
    characters,
    // A report is believed: the file is what it is, whatever its head says.
    seconds: seconds === undefined ? undefined : atMost(secondsMax ?? seconds, came.seconds ?? seconds),
    requests: atMost(requests, came.requests),
  };
}

const atMost = (most: number | undefined, came: number | undefined): number | undefined =>
  most === undefined ? undefined : Math.min(most, came ?? most);

/** A minute of speech: 1,250 tokens of output (openai.com/api/pricing, gpt-4o-mini-tts, November 2026), 900 characters. */
const tokensPerMinute = 1_250;
const charactersPerMinute = 900;

/** Tokens of speech that its provider does not report; undefined where characters have a price, or there are none. */
export const unreportedSpeechTokens = ({ characters }: Units, prices: CandidatePrices): number | undefined =>
  characters === undefined || prices.units?.character !== undefined
    ? undefined
    : Math.ceil((characters * tokensPerMinute) / charactersPerMinute);

/** Of images that are priced by the token: the bound of each that came. */
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
