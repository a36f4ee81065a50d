// Collects the prices by which a call can be billed at a candidate. The price cap, the ranking, the reservation and the
// charge read the prices only here, so that all four use the same prices.
import type { Candidate, CandidatePrices, TokenPrices } from '../../configuration/catalogue/index.ts';
import { type PicoUsd, priceOf, type TokenPrice } from '../../foundation/money/index.ts';
import type { CallSize, InputSize, MediaKind } from '../../protocol/wire/index.ts';
import { noUnitCosts, type UnitCosts, unitCosts, wholeCost } from './unit-cost.ts';
import { inputTokensMax, outputTokensMax, takesAnyMedia } from './worst-case.ts';

export interface CallPrices {
  /** Highest price of an input token. Null means that the price is unknown, never that the token is free. */
  readonly input: TokenPrice | null;
  /** Highest price of an output token, or 0 if there can be no output. */
  readonly output: TokenPrice | null;
  readonly units: UnitCosts;
}

/**
 * Returns the prices of the kinds and tiers that the request can reach. `writesCache` is true if a part of its
 * prompt is marked for a cache.
 */
export const callPrices = (candidate: Candidate, size: CallSize, writesCache: () => boolean): CallPrices =>
  dearestPrices(candidate, size, { media: inputMediaOf(candidate, size), writesCache });

/**
 * Returns the prices of everything that a provider may report, because some providers cache prompts by themselves, and
 * the provider decides the kind of media.
 */
const reportablePrices = (candidate: Candidate, size: CallSize): CallPrices =>
  dearestPrices(candidate, size, { media: reportableMediaOf(size), writesCache: () => true });

interface InputKinds {
  readonly media: readonly MediaKind[];
  readonly writesCache: () => boolean;
}

function dearestPrices(candidate: Candidate, size: CallSize, kinds: InputKinds): CallPrices {
  const { prices } = candidate;
  let input = dearestInput(prices, kinds);
  let output = dearestOf(prices, prices.output, outputMedia);
  for (const tier of tiersUpTo(prices, inputTokensMax(candidate, size))) {
    input = dearerOf(input, dearestInput(tier, kinds));
    output = dearerOf(output, dearestOf(tier, tier.output, outputMedia));
  }
  const hasOutput = outputTokensMax(candidate, size) > 0;
  return { input, output: hasOutput ? output : 0n, units: unitCosts(prices, size.units) };
}

/** Returns the highest price of input. Reads from a provider's cache are known only afterwards. */
function dearestInput(prices: TokenPrices, { media, writesCache }: InputKinds): TokenPrice | null {
  const read = dearestOf(prices, dearerOf(prices.input, prices.cachedInput), media);
  const written = dearerOf(dearerOf(read, prices.cacheWrite), prices.cacheWrite1h);
  return written === read || writesCache() ? written : read;
}

function dearestOf({ media }: TokenPrices, text: TokenPrice | null, kinds: readonly MediaKind[]): TokenPrice | null {
  let dearest = text;
  for (const kind of kinds) dearest = dearerOf(dearest, media[kind] ?? null);
  return dearest;
}

/** Returns the higher price; an entry without a price of text has none. */
const dearerOf = (one: TokenPrice | null, other: TokenPrice | null): TokenPrice | null =>
  one !== null && other !== null && other > one ? other : one;

/** Returns the tiers that a prompt of at most this many tokens can reach. */
const tiersUpTo = ({ tiers }: CandidatePrices, promptTokensMax: number): readonly TokenPrices[] =>
  tiers.length === 0 ? tiers : tiers.filter(({ abovePromptTokens }) => promptTokensMax > abovePromptTokens);

/**
 * Returns the prices of a tier. A prompt that is longer than the tier's bound is priced by the tier, and so is the
 * whole call.
 */
export const pricesAt = (prices: CandidatePrices, promptTokens: number): TokenPrices =>
  prices.tiers.findLast(({ abovePromptTokens }) => promptTokens > abovePromptTokens) ?? prices;

export const inputMedia: readonly MediaKind[] = ['audioInput', 'imageInput'];
/** Kinds of output other than text. Some models answer with images although the request names no images. */
export const outputMedia: readonly MediaKind[] = ['audioOutput', 'imageOutput'];
const images: readonly MediaKind[] = ['imageInput'];
const textAlone: readonly MediaKind[] = [];

/** Returns the kinds other than text that a report may have, for a call whose input is not only text. */
export const reportableMediaOf = ({ mediaTokens }: Pick<InputSize, 'mediaTokens'>): readonly MediaKind[] =>
  mediaTokens === 0 ? textAlone : inputMedia;

/** Returns the kinds other than text that its input has. Media that only the context bounds may be of any kind. */
function inputMediaOf(candidate: Pick<Candidate, 'provider'>, size: InputSize): readonly MediaKind[] {
  const { mediaTokens, mediaKind, hasMediaElsewhere } = size;
  if (mediaTokens === 0) return textAlone;
  if (mediaKind !== undefined) return inputMedia.filter((kind) => kind === mediaKind);
  return mediaTokens === undefined || (hasMediaElsewhere && takesAnyMedia(candidate)) ? inputMedia : images;
}

/** Upper bound, a quintillion dollars. No credit covers this cost, and the store's numbers have up to 38 digits. */
const worstCaseMax: PicoUsd = 10n ** 30n;

/**
 * Returns the highest possible cost of a call, which is reserved before any provider is called, so that no number of
 * parallel calls can spend more than the balance. It is the cost at the most expensive candidate, because the candidate
 * that answers is not known yet. At most `worstCaseMax`.
 */
export function worstCaseCost(candidates: readonly Candidate[], size: CallSize): PicoUsd {
  let dearest: PicoUsd = 0n;
  for (const candidate of candidates) dearest = dearerCost(dearest, worstCaseAt(candidate, size));
  return dearest < worstCaseMax ? dearest : worstCaseMax;
}

function worstCaseAt(candidate: Candidate, size: CallSize): PicoUsd {
  const { input, output, units } = reportablePrices(candidate, size);
  const written = priceOf(outputTokensMax(candidate, size), output ?? 0n);
  const byTokens =
    priceOf(inputTokensMax(candidate, size), input ?? 0n) + dearerCost(written, units.image?.total ?? 0n);
  return (dearerCost(byTokens, wholeCost(units) ?? 0n) + (units.request?.total ?? 0n)) * BigInt(size.answersMax);
}

const dearerCost = (one: PicoUsd, other: PicoUsd): PicoUsd => (one > other ? one : other);

/**
 * Returns the price by which candidates of a call are compared: one token of input and one of output together; if
 * another unit is billed, the amount that the call reserves. Unknown prices add nothing.
 */
export function comparedPrice<Priced extends Candidate>(
  candidates: readonly Priced[],
  size: CallSize,
  pricesOf: (candidate: Priced) => CallPrices,
): (candidate: Priced) => PicoUsd {
  if (candidates.some((candidate) => hasUnitPrice(pricesOf(candidate))))
    return (candidate) => worstCaseCost([candidate], size);
  return (candidate) => {
    const { input, output } = pricesOf(candidate);
    return (input ?? 0n) + (output ?? 0n);
  };
}

const hasUnitPrice = ({ units }: CallPrices): boolean =>
  units !== noUnitCosts && Object.values(units).some((cost) => cost !== undefined && cost.total > 0n);
