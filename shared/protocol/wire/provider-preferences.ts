// The `provider` field: which provider may serve, in which order, under which policy.
import * as z from 'zod/mini';
import { fail } from '../../errors/index.ts';
import { type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import { listOf } from './checked-members.ts';
import { listItemsMax } from './json-body.ts';

const picoDecimals = 12;
const capShape = /^\d{1,15}(\.\d+)?$/;
/** No price has more decimals, so further ones of a cap change nothing. */
const parseCap = (text: string): PicoUsd | undefined =>
  parseUsd(text.includes('.') ? text.slice(0, text.indexOf('.') + 1 + picoDecimals) : text);

const id = z.string().check(z.minLength(1));
const ids = listOf(id, { itemsMax: listItemsMax });
const someIds = listOf(id, { itemsMin: 1, itemsMax: listItemsMax });
const region = z.string().check(z.regex(/^[a-z0-9-]+$/, 'must be a lower-case region'));
/** A number or a decimal string in USD per million tokens, not negative. */
const price = z.union(
  [z.number().check(z.minimum(0)), z.string().check(z.regex(capShape))],
  'must be a number or a decimal string, not negative',
);

/** Its values have a code of their own, invalid_sort, so any value passes here. */
export const sortSchema = z.optional(z.unknown());

/** Strict: a restriction that is not understood must not be dropped. */
export const providerSchema = z.strictObject({
  sort: sortSchema,
  max_price: z.nullish(z.union([price, z.strictObject({ prompt: z.nullish(price), completion: z.nullish(price) })])),
  only: z.nullish(z.union([id, someIds])),
  order: z.nullish(ids),
  ignore: z.nullish(ids),
  allow_fallbacks: z.nullish(z.boolean()),
  // Always true: a provider that cannot honour a parameter is skipped.
  require_parameters: z.nullish(z.boolean()),
  zdr: z.nullish(z.boolean()),
  data_collection: z.nullish(z.enum(['allow', 'deny'])),
  data_residency: z.nullish(z.union([region, listOf(region, { itemsMin: 1, itemsMax: listItemsMax })])),
});

export const sortOrders = ['price', 'latency', 'throughput'] as const;
export type SortOrder = (typeof sortOrders)[number];

/** Data policies as asked or enforced. An absent field asks for nothing. */
export interface PolicyOptions {
  readonly zdr?: boolean | undefined;
  readonly data_collection?: 'allow' | 'deny' | undefined;
  readonly data_residency?: readonly string[] | undefined;
}

export interface ProviderPreferences {
  readonly sort: SortOrder | undefined;
  /** Caps in pico-USD per million tokens. */
  readonly maxPrice: { readonly prompt: PicoUsd | undefined; readonly completion: PicoUsd | undefined };
  readonly only: readonly string[] | undefined;
  /** `only` was sent as a list. */
  readonly isOnlyList: boolean;
  readonly order: readonly string[];
  readonly ignore: readonly string[];
  readonly allowFallbacks: boolean;
  readonly policy: PolicyOptions;
}

/** Throws invalid_sort. */
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

type PriceCap = z.infer<typeof price>;

/** A plain number caps both prices. */
function readMaxPrice(
  cap: PriceCap | { prompt?: PriceCap | null | undefined; completion?: PriceCap | null | undefined },
): ProviderPreferences['maxPrice'] {
  if (typeof cap === 'object') return { prompt: toPicoUsd(cap.prompt), completion: toPicoUsd(cap.completion) };
  return { prompt: toPicoUsd(cap), completion: toPicoUsd(cap) };
}

/** No price is higher, and the text of a higher number would have an exponent. */
const capMaxUsd = 1_000_000_000;

function toPicoUsd(cap: PriceCap | null | undefined): PicoUsd | undefined {
  if (cap === null || cap === undefined) return undefined;
  return parseCap(typeof cap === 'string' ? cap : Math.min(cap, capMaxUsd).toFixed(picoDecimals));
}
