// The price of images, characters, seconds and requests.
import {
  type CandidatePrices,
  imagePriceOf,
  isOpenWord,
  type UnitPrices,
} from '../../configuration/catalogue/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { OutputSize, Units } from '../../protocol/wire/index.ts';

/** Characters or seconds are the price of all of a call, whatever comes of it; undefined where they have none. */
export function wholeUnitsCost(prices: UnitPrices | undefined, units: Units | undefined): PicoUsd | undefined {
  const { characters, seconds } = units ?? {};
  const priced = [
    prices?.character === undefined || characters === undefined ? undefined : BigInt(characters) * prices.character,
    prices?.second === undefined || seconds === undefined ? undefined : timeCost(seconds, prices.second),
  ].filter((cost) => cost !== undefined);
  return priced.length === 0 ? undefined : priced.reduce((sum, cost) => sum + cost);
}

const msPerSecond = 1_000;

/** To the millisecond, rounded up. */
function timeCost(seconds: number, perSecond: PicoUsd): PicoUsd {
  const ms = BigInt(Math.ceil(seconds * msPerSecond));
  const divisor = BigInt(msPerSecond);
  return (ms * perSecond + divisor - 1n) / divisor;
}

/** Undefined where images have no price of their own. */
export function imagesCost(prices: UnitPrices | undefined, units: Units | undefined): PicoUsd | undefined {
  const images = units?.images;
  const each = prices && images && imagePriceOf(prices, images);
  return each === undefined || images === undefined ? undefined : BigInt(images.count) * each;
}

export const requestCost = ({ units: prices }: Pick<CandidatePrices, 'units'>, units: Units | undefined): PicoUsd =>
  (prices?.request ?? 0n) * BigInt(units?.requests ?? 1);

/** Never more than was reserved. Of the answer's words those that the request left open count. */
export function unitsWithin(asked: Units, came: Units): Units {
  const { images, characters, seconds, secondsMax, requests } = asked;
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
