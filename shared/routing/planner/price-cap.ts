// Applies `provider.max_price`, which means that every price by which a call can be billed must be under it.
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { formatUsd, type PicoUsd } from '../../foundation/money/index.ts';
import type { PriceCap, PriceCapField } from '../../protocol/wire/index.ts';
import type { CallPrices } from '../billing/index.ts';

const perMillion = 1_000_000n;

/** Units of each field, whose number is the price of `count` of them. */
const capped: Readonly<Record<PriceCapField, { readonly unit: string; readonly count: bigint }>> = {
  prompt: { unit: 'a million tokens of prompt', count: perMillion },
  completion: { unit: 'a million tokens of completion', count: perMillion },
  request: { unit: 'a request', count: 1n },
  image: { unit: 'an image', count: 1n },
  second: { unit: 'a second', count: 1n },
  character: { unit: 'a million characters', count: perMillion },
};
const units = ['request', 'image', 'second', 'character'] as const;

interface FieldPrice {
  readonly field: PriceCapField;
  /** Price in the field's unit, or null if the price is unknown. */
  readonly price: PicoUsd | null;
}

const pricedAt = (field: PriceCapField, each: PicoUsd | null): FieldPrice => ({
  field,
  price: each === null ? null : each * capped[field].count,
});

/** Returns each price of the call, by the field that caps it. */
const fieldPrices = (prices: CallPrices): readonly FieldPrice[] => [
  pricedAt('prompt', prices.input),
  pricedAt('completion', prices.output),
  ...units.flatMap((unit) => {
    // An entry without a price of its input cannot be billed, so the prices of its units are unknown too.
    const each = prices.input === null ? null : prices.units[unit]?.each;
    return each === undefined || each === 0n ? [] : [pricedAt(unit, each)];
  }),
];

const isUnit = (field: PriceCapField): boolean => field !== 'prompt' && field !== 'completion';

/** True if a price is above the cap. An unknown price cannot be promised to be under any. */
function isOver({ field, price }: FieldPrice, cap: PriceCap): boolean {
  const most = cap[field];
  // Nothing else limits the cost of a unit, so a cap without a field for this unit does not allow the unit.
  if (most === undefined) return isUnit(field) && price !== null;
  return price === null || price > most;
}

export const isUnderCap = (prices: CallPrices, cap: PriceCap): boolean =>
  !fieldPrices(prices).some((one) => isOver(one, cap));

/**
 * Returns a message with the cost of the call at the cheapest candidate, and with the fields that must allow this cost.
 */
export function overCapText({ provider }: Candidate, prices: CallPrices, cap: PriceCap): string {
  const known = fieldPrices(prices).filter(({ price }) => price !== null);
  const billed = known.filter(({ field, price }) => price !== 0n || isOver({ field, price }, cap));
  const costs = listOf(billed.map(({ field, price }) => `${formatUsd(price)} USD for ${capped[field].unit}`));
  const least = known
    .filter((one) => isOver(one, cap))
    .map(({ field, price }) => `provider.max_price.${field} ${formatUsd(price)}`);
  return `No provider is available under provider.max_price: ${provider.id}, the cheapest, costs ${costs}. It needs at least ${least.join(', ')}.`;
}

const listOf = (texts: readonly string[]): string => texts.join(' and ');
