// Reads the second source: Pydantic's list of prices, without features and output limits. LiteLLM's list is compared
// with it; OpenRouter's models, which LiteLLM's wheel does not list, get their prices from it.
import { findProvider, type ModelInfo, type ModelPrice, type TieredPrices } from '@pydantic/genai-prices';
import type {
  ListedModel,
  ListedPrices,
  ListedTier,
  ProviderKind,
} from '../../shared/configuration/model-list/index.ts';
import { usdText } from './usd-text.ts';

/** Ids of the kinds in this list. */
const providerIds: Partial<Record<ProviderKind, string>> = {
  openai: 'openai',
  azure: 'azure',
  anthropic: 'anthropic',
  google: 'google',
  vertex: 'google',
  bedrock: 'aws',
  cohere: 'cohere',
  groq: 'groq',
  mistral: 'mistral',
  deepseek: 'deepseek',
  xai: 'x-ai',
  openrouter: 'openrouter',
  together: 'together',
  fireworks: 'fireworks',
  cerebras: 'cerebras',
};

interface SecondPrices {
  readonly prices: ListedPrices;
  readonly tiers: readonly ListedTier[];
  readonly contextLength: number | undefined;
}

/** Returns undefined for an unknown model, or for a model that is not priced by the token. */
export function findSecondPrices(kind: ProviderKind, name: string, nowMs: number): SecondPrices | undefined {
  const provider = findProvider({ providerId: providerIds[kind] ?? '' });
  // This list's names of Amazon Bedrock denote a region, or a group of regions, so a model is only found by its
  // complete name.
  if (kind === 'bedrock') return bedrockPrices(provider?.models ?? [], name, nowMs);
  const model =
    provider?.models.find(({ id }) => id === name) ?? provider?.models.find(({ match }) => matches(match, name));
  return model && pricesOf(model, nowMs);
}

/**
 * Returns prices of Bedrock. `regional.…` covers all profiles of one part of the world; `global.…` and plain names have
 * no surcharge.
 */
function bedrockPrices(models: readonly ModelInfo[], name: string, nowMs: number): SecondPrices | undefined {
  const withoutVersion = (id: string) => id.replace(/-v\d+(:\d+)?$/, '');
  const plain = name.replace(/^(us|eu|apac|jp|au|global)\./, '');
  const isRegional = plain !== name && !name.startsWith('global.');
  const wantedNames = (isRegional ? [`regional.${plain}`] : [name, `global.${plain}`]).map(withoutVersion);
  const model = models.find(({ id }) => wantedNames.includes(withoutVersion(id)));
  return model && pricesOf(model, nowMs);
}

type Match = ModelInfo['match'];

/** Applies the package's own rules, which it does not export. */
function matches(match: Match, name: string): boolean {
  if ('or' in match) return match.or.some((one) => matches(one, name));
  if ('and' in match) return match.and.every((one) => matches(one, name));
  if ('equals' in match) return match.equals === name;
  if ('starts_with' in match) return name.startsWith(match.starts_with);
  if ('ends_with' in match) return name.endsWith(match.ends_with);
  if ('contains' in match) return name.includes(match.contains);
  return 'regex' in match && new RegExp(match.regex).test(name);
}

function pricesOf({ prices, context_window: contextLength }: ModelInfo, nowMs: number): SecondPrices | undefined {
  const inForce = pricesInForce(prices, nowMs);
  const { input_mtok: input, output_mtok: output } = inForce;
  if (input === undefined) return undefined;
  const bounds = [...new Set([input, output].flatMap((price) => tiersOf(price).map(({ start }) => start)))];
  const at = (promptTokens: number): ListedPrices => ({
    input: usdText(priceAt(inForce.input_mtok, promptTokens) ?? 0),
    output: usdText(priceAt(inForce.output_mtok, promptTokens) ?? 0),
    cachedInput: textAt(inForce.cache_read_mtok, promptTokens),
    cacheWrite: textAt(inForce.cache_write_mtok, promptTokens),
    cacheWrite1h: textAt(inForce.cache_write_1h_mtok, promptTokens),
  });
  return {
    prices: at(0),
    tiers: bounds
      .toSorted((a, b) => a - b)
      .map((abovePromptTokens) => ({ abovePromptTokens, ...at(abovePromptTokens + 1) })),
    contextLength,
  };
}

type Listed = number | TieredPrices | undefined;

const tiersOf = (price: Listed) => (typeof price === 'object' ? price.tiers : []);

function priceAt(price: Listed, promptTokens: number): number | undefined {
  if (typeof price !== 'object') return price;
  const reached = price.tiers.filter(({ start }) => promptTokens > start).toSorted((a, b) => a.start - b.start);
  return reached.at(-1)?.price ?? price.base;
}

const textAt = (price: Listed, promptTokens: number): string | undefined => {
  const usd = priceAt(price, promptTokens);
  return usd === undefined ? undefined : usdText(usd);
};

/** Returns the latest of prices by date; the most expensive of prices by time of day. */
function pricesInForce(prices: ModelInfo['prices'], nowMs: number): ModelPrice {
  if (!Array.isArray(prices)) return prices;
  const startOf = ({ constraint }: (typeof prices)[number]) =>
    constraint?.type === 'start_date' ? Date.parse(constraint.start_date) : Number.NEGATIVE_INFINITY;
  const started = prices.filter((price) => startOf(price) <= nowMs);
  const latest = Math.max(...started.map(startOf));
  const rank = ({ prices: { output_mtok } }: (typeof prices)[number]) => priceAt(output_mtok, 0) ?? 0;
  const [dearest] = started.filter((price) => startOf(price) === latest).toSorted((a, b) => rank(b) - rank(a));
  return dearest?.prices ?? {};
}

/** The vendors whose models are called most through OpenRouter; variants (`:free`, `:beta`) have terms of their own. */
const openrouterVendors =
  /^(openai|anthropic|google|deepseek|mistralai|x-ai|meta-llama|qwen|moonshotai|z-ai|minimax|amazon|cohere|nvidia)\/[^:]+$/;

/** Interfaces of models that answer with text, or with vectors. */
const textApis: ReadonlySet<string> = new Set([
  ...['chat-completions', 'messages', 'responses', 'converse', 'generate-content'],
  'embeddings',
]);

/**
 * Returns models of OpenRouter. Prices and context come from this list, abilities from the row of the same model, at
 * its vendor or at another host. A model whose abilities no row has is omitted.
 */
export function openrouterModels(known: readonly ListedModel[], nowMs: number): ListedModel[] {
  const byPlainName = new Map<string, ListedModel>();
  for (const model of known) {
    if (!model.apis.some((api) => textApis.has(api))) continue;
    const plain = plainName(model.name);
    const former = byPlainName.get(plain);
    // If several hosts have the model, the host with the fewest abilities counts.
    if (former === undefined || model.features.length < former.features.length) byPlainName.set(plain, model);
  }
  const provider = findProvider({ providerId: 'openrouter' });
  return (provider?.models ?? []).flatMap(({ id }): ListedModel[] => {
    const second = openrouterVendors.test(id) ? findSecondPrices('openrouter', id, nowMs) : undefined;
    const model = byPlainName.get(plainName(id));
    if (second === undefined || model === undefined || Number(second.prices.input) === 0) return [];
    // Only the other list has prices of output other than text.
    if (model.media.audioOutput !== undefined || model.media.imageOutput !== undefined) return [];
    const { prices, tiers, contextLength = model.contextLength } = second;
    const maxOutputTokens = Math.min(model.maxOutputTokens, contextLength);
    const { features, endsOn } = model;
    const isEmbedding = model.apis.includes('embeddings');
    const apis = isEmbedding ? (['embeddings'] as const) : (['chat-completions'] as const);
    const modalities = model.modalities.filter((modality) => ['text', 'image', 'file'].includes(modality));
    return [
      {
        kind: 'openrouter',
        name: id,
        prices,
        tiers,
        contextLength,
        maxOutputTokens,
        features,
        modalities,
        apis,
        media: {},
        endsOn,
      },
    ];
  });
}

/** Returns a name without punctuation, because `anthropic/claude-sonnet-4.5` and `claude-sonnet-4-5` are one model. */
const plainName = (name: string): string =>
  (name.split('/').at(-1) ?? name)
    .toLowerCase()
    .replace(/[._]/g, '-')
    .replace(/-(instruct|turbo|latest)$/, '');
