// Defines the `provider` field, which determines the providers that may serve, their sequence, and the policy.
import * as z from 'zod/mini';
import { fail } from '../../errors/index.ts';
import { type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import { listOf } from './checked-members.ts';
import { listItemsMax } from './json-body.ts';

const picoDecimals = 12;
const capShape = /^\d{1,15}(\.\d+)?$/;
/** Parses a cap. No price has more decimals than are parsed, so further decimals change nothing. */
const parseCap = (text: string): PicoUsd | undefined =>
  parseUsd(text.includes('.') ? text.slice(0, text.indexOf('.') + 1 + picoDecimals) : text);

const id = z.string().check(z.minLength(1));
const ids = listOf(id, { itemsMax: listItemsMax });
const someIds = listOf(id, { itemsMin: 1, itemsMax: listItemsMax });
const region = z.string().check(z.regex(/^[a-z0-9-]+$/, 'must be a lower-case region'));
/** A number or a decimal string in USD, not negative. */
const price = z.union(
  [z.number().check(z.minimum(0)), z.string().check(z.regex(capShape))],
  'must be a number or a decimal string, not negative',
);

/**
 * Fields of a price cap; `prompt`, `completion` and `character` are prices of a million units, the others are prices of
 * one unit.
 */
const capFields = ['prompt', 'completion', 'request', 'image', 'second', 'character'] as const;
export type PriceCapField = (typeof capFields)[number];
const cap = z.nullish(price);
const capOfEach = z.strictObject({
  prompt: cap,
  completion: cap,
  request: cap,
  image: cap,
  second: cap,
  character: cap,
} satisfies Record<PriceCapField, typeof cap>);

/** Schema that accepts any value, because an invalid value has its own code, invalid_sort. */
export const sortSchema = z.optional(z.unknown());

/** Strict schema, because a restriction that is not understood must not be dropped. */
export const providerSchema = z.strictObject({
  sort: sortSchema,
  max_price: z.nullish(z.union([price, capOfEach])),
  only: z.nullish(z.union([id, someIds])),
  order: z.nullish(ids),
  ignore: z.nullish(ids),
  allow_fallbacks: z.nullish(z.boolean()),
  // The effect is always that of true, because a provider that cannot honour a parameter is skipped.
  require_parameters: z.nullish(z.boolean()),
  zdr: z.nullish(z.boolean()),
  data_collection: z.nullish(z.enum(['allow', 'deny'])),
  data_residency: z.nullish(z.union([region, listOf(region, { itemsMin: 1, itemsMax: listItemsMax })])),
});

export const sortOrders = ['price', 'latency', 'throughput'] as const;
export type SortOrder = (typeof sortOrders)[number];

/** Data policies as requested or enforced. An absent field demands nothing. */
export interface PolicyOptions {
  readonly zdr?: boolean | undefined;
  readonly data_collection?: 'allow' | 'deny' | undefined;
  readonly data_residency?: readonly string[] | undefined;
}

/** Caps in pico-USD, by the unit of the price. A unit without a cap must be free. */
export type PriceCap = Readonly<Partial<Record<PriceCapField, PicoUsd>>>;

export interface ProviderPreferences {
  readonly sort: SortOrder | undefined;
  /** Price cap; undefined if nothing is capped. */
  readonly maxPrice: PriceCap | undefined;
  readonly only: readonly string[] | undefined;
  /** True if `only` was sent as a list. */
  readonly isOnlyList: boolean;
  readonly order: readonly string[];
  readonly ignore: readonly string[];
  readonly allowFallbacks: boolean;
  readonly policy: PolicyOptions;
}

/** Reads the preferences. Throws invalid_sort. */
export function readProviderPreferences(provider: z.infer<typeof providerSchema>): ProviderPreferences {
  const sort = sortOrders.find((order) => order === provider.sort);
  if (sort === undefined && provider.sort !== undefined && provider.sort !== null) throw fail('invalid_sort');
  return {
    sort,
    maxPrice: readMaxPrice(provider.max_price ?? {}),
    only: typeof provider.only === 'string' ? [provider.only] : (provider.only ?? undefined),
    isOnlyList: Array.isArray(provider.only),
    order: provider.order ?? [],
    ignore: provider.ignore ?? [],
    allowFallbacks: provider.allow_fallbacks ?? true,
    policy: {
      zdr: provider.zdr ?? undefined,
      data_collection: provider.data_collection ?? undefined,
      data_residency:
        typeof provider.data_residency === 'string'
          ? [provider.data_residency]
          : (provider.data_residency ?? undefined),
    },
  };
}

/** Reads the cap; a plain number caps input and output. */
function readMaxPrice(cap: z.infer<typeof price> | z.infer<typeof capOfEach>): PriceCap | undefined {
  const each = typeof cap === 'object' ? cap : { prompt: cap, completion: cap };
  const caps = Object.entries(each).flatMap(([field, written]) =>
    written === null || written === undefined ? [] : [[field, toPicoUsd(written)] as const],
  );
  return caps.length === 0 ? undefined : Object.fromEntries(caps);
}

/** Highest cap in USD: no price is higher, and the text of a higher number would have an exponent. */
const capMaxUsd = 1_000_000_000;

const toPicoUsd = (written: z.infer<typeof price>): PicoUsd | undefined =>
  parseCap(typeof written === 'string' ? written : Math.min(written, capMaxUsd).toFixed(picoDecimals));
