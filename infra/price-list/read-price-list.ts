// What a price list says of a provider's models, as entries of a gateway file. Where it cannot be sure it writes the dearer
// price and says what to check: a price that is too low would let a call cost more than it holds.
import type { ModelInfo, ModelPrice, Provider, TieredPrices } from '@pydantic/genai-prices';

/** Members of the list, and how the gateway file calls them. */
const priceMembers = {
  input_mtok: 'input_price_per_million',
  output_mtok: 'output_price_per_million',
  cache_read_mtok: 'cached_input_price_per_million',
  cache_write_mtok: 'cache_write_input_price_per_million',
  cache_write_1h_mtok: 'cache_write_1h_input_price_per_million',
} as const;
type ListMember = keyof typeof priceMembers;
const listMembers = Object.keys(priceMembers) as ListMember[];

export interface ListedModel {
  readonly id: string;
  readonly name: string | undefined;
  readonly contextLength: number;
  /** By the members of the gateway file, in its form. */
  readonly prices: Readonly<Record<string, string>>;
  /** What a person must look at, one sentence each. */
  readonly checks: readonly string[];
}

export interface PriceList {
  readonly models: readonly ListedModel[];
  readonly leftOut: readonly { readonly id: string; readonly reason: string }[];
}

export function readPriceList({ models }: Pick<Provider, 'models'>, nowMs: number): PriceList {
  const read = models.map((model) => readModel(model, nowMs));
  return {
    models: read.filter((model) => 'prices' in model),
    leftOut: read.filter((model) => 'reason' in model),
  };
}

/** Ids of the gateway file: the list has patterns and names of families too. */
const idShape = /^[A-Za-z0-9._:/@-]{1,100}$/;

function readModel(model: ModelInfo, nowMs: number): ListedModel | PriceList['leftOut'][number] {
  const { id, name, context_window: contextLength, price_comments: remark } = model;
  const { inForce, checks } = pricesInForce(model.prices, nowMs);
  const isEmbedding = /embed/i.test(id);
  const price = inForce.output_mtok === undefined && isEmbedding ? { ...inForce, output_mtok: 0 } : inForce;
  const reason = reasonAgainst(model, price);
  if (reason !== undefined || contextLength === undefined) return { id, reason: reason ?? 'no context length' };
  const amounts = listMembers.flatMap((member) => {
    const listed = price[member];
    return listed === undefined ? [] : [{ member, ...dearest(listed, contextLength) }];
  });
  const isTiered = amounts.some(({ depends }) => depends);
  const others = Object.keys(inForce).filter((member) => !(member in priceMembers));
  return {
    id,
    name,
    contextLength,
    prices: Object.fromEntries(amounts.map(({ member, usd }) => [priceMembers[member], usdText(usd)])),
    checks: [
      ...checks,
      ...(isTiered ? ['prices depend on the length of the input: the dearest are written'] : []),
      ...(others.length > 0 ? [`the gateway does not count what else is priced: ${others.join(', ')}`] : []),
      ...(remark === undefined ? [] : [`the list says: ${remark.replace(/\s+/g, ' ')}`]),
    ],
  };
}

/** Why a model cannot stand in a gateway file. Undefined: nothing but its context length may be lacking. */
function reasonAgainst({ id, deprecated, description = '' }: ModelInfo, price: ModelPrice): string | undefined {
  if (deprecated === true || /\bretired\b/i.test(description)) return 'retired';
  if (!idShape.test(id)) return 'a pattern, no model';
  if (price.input_mtok === undefined || price.output_mtok === undefined) return 'not priced by the token';
  return undefined;
}

interface InForce {
  readonly inForce: ModelPrice;
  readonly checks: readonly string[];
}

function pricesInForce(prices: ModelInfo['prices'], nowMs: number): InForce {
  if (!Array.isArray(prices)) return { inForce: prices, checks: [] };
  const dated = prices.map((price) => {
    const startsAt = price.constraint?.type === 'start_date' ? price.constraint.start_date : undefined;
    return { ...price, startsAt, startMs: startsAt === undefined ? Number.NEGATIVE_INFINITY : Date.parse(startsAt) };
  });
  const started = dated.filter(({ startMs }) => startMs <= nowMs).toSorted((a, b) => a.startMs - b.startMs);
  const latest = started.filter(({ startMs }) => startMs === started.at(-1)?.startMs);
  const coming = dated.filter(({ startMs }) => startMs > nowMs);
  return {
    inForce: dearestOfEach(latest.map(({ prices: each }) => each)),
    checks: [
      ...coming.map(({ startsAt }) => `other prices are in force from ${startsAt} on`),
      ...(latest.length > 1 ? ['prices depend on the time of day: the dearest are written'] : []),
    ],
  };
}

/** Of prices that are in force by turns. */
function dearestOfEach(prices: readonly ModelPrice[]): ModelPrice {
  const members = new Set(prices.flatMap((price) => Object.keys(price)));
  const top = (listed: number | TieredPrices | undefined) =>
    listed === undefined ? Number.NEGATIVE_INFINITY : dearest(listed, Number.POSITIVE_INFINITY).usd;
  return Object.fromEntries(
    [...members].map((member) => [
      member,
      prices.map((price) => price[member]).reduce((a, b) => (top(b) > top(a) ? b : a)),
    ]),
  );
}

/** A tier that begins beyond the context is never reached. */
function dearest(listed: number | TieredPrices, contextLength: number): { usd: number; depends: boolean } {
  if (typeof listed === 'number') return { usd: listed, depends: false };
  const reached = listed.tiers.filter(({ start }) => start < contextLength).map(({ price }) => price);
  return { usd: Math.max(listed.base, ...reached), depends: reached.some((price) => price !== listed.base) };
}

/** The file takes six decimals. What has more is rounded up. */
function usdText(usd: number): string {
  const millionths = Math.ceil(Number((usd * 1_000_000).toFixed(3)));
  return (millionths / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
}
