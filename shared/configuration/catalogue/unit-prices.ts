// Reads prices of units other than tokens: images, characters, seconds and requests.
import { type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import type { ImageCount } from '../../protocol/wire/index.ts';

/** Prices in USD, as decimal strings. */
export interface UnitPricesDocument {
  output_price_per_image?: string | undefined;
  /** Prices by `SIZE/QUALITY`, `SIZE`, or `default`. */
  image_prices?: Record<string, string> | undefined;
  input_price_per_character?: string | undefined;
  input_price_per_second?: string | undefined;
  price_per_request?: string | undefined;
}

export const unitPriceMembers = [
  'output_price_per_image',
  'image_prices',
  'input_price_per_character',
  'input_price_per_second',
  'price_per_request',
] as const satisfies readonly (keyof UnitPricesDocument)[];

interface ImagePrice {
  readonly size: string;
  /** Quality; absent for any. */
  readonly quality: string | undefined;
  readonly price: PicoUsd;
}

/** Prices in pico-USD per unit. */
export interface UnitPrices {
  readonly images: readonly ImagePrice[];
  /** Price of an image of no listed size and quality. */
  readonly otherImage: PicoUsd | undefined;
  /** Price of an image of which neither size nor quality is known, from its provider's documentation. */
  readonly usualImage: PicoUsd | undefined;
  readonly character: PicoUsd | undefined;
  readonly second: PicoUsd | undefined;
  readonly request: PicoUsd | undefined;
}

const otherImages = 'default';

/** Returns undefined if an entry has no such prices. */
export function readUnitPrices(written: UnitPricesDocument): UnitPrices | undefined {
  if (unitPriceMembers.every((member) => written[member] === undefined)) return undefined;
  const { [otherImages]: other, ...listed } = written.image_prices ?? {};
  return {
    images: Object.entries(listed).map(([name, price]) => {
      const [size = '', quality] = name.split('/');
      return { size, quality, price: priceIn(price) ?? 0n };
    }),
    otherImage: priceIn(other ?? written.output_price_per_image),
    usualImage: priceIn(other),
    character: priceIn(written.input_price_per_character),
    second: priceIn(written.input_price_per_second),
    request: priceIn(written.price_per_request),
  };
}

const priceIn = (text: string | undefined): PicoUsd | undefined => (text === undefined ? undefined : parseUsd(text));

/** True if the provider chooses the size or quality. */
export const isOpenWord = (word: string | undefined): boolean => word === undefined || word === 'auto';

type ImageWords = Pick<ImageCount, 'size' | 'quality'>;

/**
 * Returns the price of one image; undefined if images have no price. If size or quality is unknown, or the provider
 * chooses it, the highest matching price.
 */
export const imagePriceOf = (prices: UnitPrices, image: ImageWords): PicoUsd | undefined =>
  dearestOf(pricesThatFit(prices, image));

/** True if another price might have been right. */
export const isImagePriceGuessed = (prices: UnitPrices, image: ImageWords): boolean =>
  new Set(pricesThatFit(prices, image).map(({ price }) => price)).size > 1;

type Priced = Pick<ImagePrice, 'price'>;

function pricesThatFit(
  { images, otherImage, usualImage }: UnitPrices,
  { size, quality }: ImageWords,
): readonly Priced[] {
  if (size === undefined && quality === undefined && usualImage !== undefined) return [{ price: usualImage }];
  const fitting = images.filter(
    (one) =>
      (isOpenWord(size) || one.size === size) &&
      (isOpenWord(quality) || one.quality === undefined || one.quality === quality),
  );
  const exact = fitting.filter((one) => !isOpenWord(size) && one.quality !== undefined && one.quality === quality);
  if (exact.length > 0) return exact;
  const mayBeOther = fitting.length === 0 || isOpenWord(size) || isOpenWord(quality);
  const priced = [...fitting, ...(otherImage === undefined || !mayBeOther ? [] : [{ price: otherImage }])];
  return priced.length === 0 ? images : priced;
}

const dearestOf = (priced: readonly Priced[]): PicoUsd | undefined =>
  priced.reduce<PicoUsd | undefined>(
    (dearest, { price }) => (dearest === undefined || price > dearest ? price : dearest),
    undefined,
  );
