// Loads the catalogue into memory, which has every model with the candidates that can serve it, and prices as integers.
import { type HubApi, type InterfaceId, servingApis } from '../../foundation/constants/index.ts';
import { parsePricePerMillion, type TokenPrice } from '../../foundation/money/index.ts';
import { type MediaKind, mediaKinds } from '../../protocol/wire/index.ts';
import type {
  CatalogueDocument,
  GuardrailDocument,
  MediaPrices,
  ModelDocument,
  ModelProviderDocument,
  PriceTierDocument,
  ProviderDocument,
  ServiceDocument,
} from './catalogue-document.ts';
import { type CalledProvider, poolOf } from './credential-pool.ts';
import { readUnitPrices, type UnitPrices } from './unit-prices.ts';

/** Prices in pico-USD per token. Null if the entry cannot be billed. */
export interface TokenPrices {
  readonly input: TokenPrice | null;
  readonly output: TokenPrice | null;
  /** Price of cached prompt tokens; the input price if the entry has no such price. */
  readonly cachedInput: TokenPrice | null;
  /** Price of prompt tokens that are written into a cache; the input price if the entry has no such price. */
  readonly cacheWrite: TokenPrice | null;
  /** Price of tokens cached for an hour; `cacheWrite` if the entry has no such price. */
  readonly cacheWrite1h: TokenPrice | null;
  /** Prices that the entry names; other media are priced like text. */
  readonly media: Readonly<Partial<Record<MediaKind, TokenPrice>>>;
}

interface PriceTier extends TokenPrices {
  readonly abovePromptTokens: number;
}

/** Prices of short prompts, which plans compare. */
export interface CandidatePrices extends TokenPrices {
  /** Tiers with rising bounds. Empty for most entries. */
  readonly tiers: readonly PriceTier[];
  /** Prices in addition to, or in place of, prices of tokens; undefined for most entries. */
  readonly units?: UnitPrices | undefined;
}

/** One provider, with one of its credentials, that can serve one model. Plans consist of candidates. */
export interface Candidate {
  readonly model: ModelDocument;
  readonly provider: CalledProvider;
  readonly entry: ModelProviderDocument;
  readonly prices: CandidatePrices;
  /** True if only clients of chat completions reach the candidate in another interface than their own. */
  readonly isTranslationOff?: boolean | undefined;
}

/** True if the provider has an interface that can serve this client interface. */
export const serves = (candidate: Candidate, interfaceId: InterfaceId): boolean =>
  hasClientInterface(candidate, interfaceId) || hubApisFor(candidate, interfaceId).length > 0;

/** True if a call of this interface is relayed to the provider unchanged. */
export const hasClientInterface = ({ provider }: Pick<Candidate, 'provider'>, interfaceId: InterfaceId): boolean =>
  provider.apis.includes(servingApis[interfaceId].native) && apiOfKind(provider, interfaceId) === undefined;

/** Matches base URLs below which these providers have OpenAI's format. */
const openAiPath = /\/open(ai|api)(\/|$)/;

/**
 * Returns the interface whose package writes the format of this provider kind for a client interface; undefined for the
 * usual format.
 */
function apiOfKind({ kind, base_url }: CalledProvider, interfaceId: InterfaceId): HubApi | undefined {
  const serving = servingApis[interfaceId];
  if (!('apisByKind' in serving) || kind === undefined || openAiPath.test(base_url)) return undefined;
  return (serving.apisByKind as Readonly<Partial<Record<typeof kind, HubApi>>>)[kind];
}

/**
 * Returns the interfaces of the provider to which a call of this client interface is translated, ordered by how much
 * they can express.
 */
export function hubApisFor(
  { provider, isTranslationOff }: Pick<Candidate, 'provider' | 'isTranslationOff'>,
  interfaceId: InterfaceId,
): readonly HubApi[] {
  const serving = servingApis[interfaceId];
  if (isTranslationOff === true && !('isAlwaysTranslated' in serving)) return [];
  const kindApi = apiOfKind(provider, interfaceId);
  if (kindApi !== undefined) return provider.apis.includes(serving.native) ? [kindApi] : [];
  const throughHub: readonly HubApi[] = serving.throughHub;
  return throughHub.filter((api) => provider.apis.includes(api));
}

export interface CatalogueModel {
  readonly model: ModelDocument;
  /** Candidates in catalogue order. */
  readonly candidates: readonly Candidate[];
}

export interface Catalogue {
  /** The content hash of the stored document. */
  readonly version: string;
  readonly service: ServiceDocument;
  readonly providers: ReadonlyMap<string, ProviderDocument>;
  /** Models in catalogue order. */
  readonly models: ReadonlyMap<string, CatalogueModel>;
  readonly guardrails: ReadonlyMap<string, GuardrailDocument>;
}

/** Builds the lookups of a stored document, which was checked completely before it was written. */
export function loadCatalogue(document: CatalogueDocument, version: string): Catalogue {
  const providers = new Map(document.providers.map((provider) => [provider.id, provider]));
  const models = document.models.map((model): [string, CatalogueModel] => [
    model.id,
    {
      model,
      candidates: model.providers.flatMap((entry) =>
        toCandidate(
          model,
          withDefaults(entry, model, document.service),
          providers.get(entry.provider),
          document.service,
        ),
      ),
    },
  ]);
  const guardrails = new Map(document.guardrails?.map((guardrail) => [guardrail.id, guardrail]));
  return { version, service: document.service, providers, models: new Map(models), guardrails };
}

function toCandidate(
  model: ModelDocument,
  entry: ModelProviderDocument,
  provider: ProviderDocument | undefined,
  { translation }: ServiceDocument,
): Candidate[] {
  if (provider === undefined) return [];
  const base = readPrices(entry);
  const tiers = base.input === null ? [] : (entry.price_tiers ?? []).map(readTier);
  // An entry may narrow the interfaces of its provider. Readers of the provider's interfaces then get the narrower
  // list.
  const narrowed = entry.apis === undefined ? provider : { ...provider, apis: entry.apis };
  const isTranslationOff = translation === 'disabled' ? { isTranslationOff: true } : {};
  // An entry without a price of its input cannot be billed.
  const units = base.input === null ? undefined : readUnitPrices(entry);
  const prices = { ...base, tiers, ...(units && { units }) };
  return poolOf(narrowed).map((credential) => ({ model, provider: credential, entry, prices, ...isTranslationOff }));
}

/**
 * Adds defaults of its model and the service. The output bound of a call without a bound never exceeds the model's
 * bound.
 */
function withDefaults(
  entry: ModelProviderDocument,
  model: ModelDocument,
  service: ServiceDocument,
): ModelProviderDocument {
  const tokens = entry.default_output_tokens ?? service.default_output_tokens ?? undefined;
  const promptCache = entry.prompt_cache ?? model.prompt_cache ?? service.prompt_cache;
  return {
    ...entry,
    ...(tokens === undefined ? {} : { default_output_tokens: Math.min(tokens, entry.max_output_tokens) }),
    ...(promptCache === undefined ? {} : { prompt_cache: promptCache }),
  };
}

type WrittenPrices = Pick<
  ModelProviderDocument,
  | 'input_price_per_million'
  | 'output_price_per_million'
  | 'cached_input_price_per_million'
  | 'cache_write_input_price_per_million'
  | 'cache_write_1h_input_price_per_million'
> &
  MediaPrices;

function readPrices(written: WrittenPrices): TokenPrices {
  const input = readPrice(written.input_price_per_million);
  const cacheWrite = readPriceOr(input, written.cache_write_input_price_per_million);
  return {
    input,
    output: readPrice(written.output_price_per_million),
    cachedInput: readPriceOr(input, written.cached_input_price_per_million),
    cacheWrite,
    cacheWrite1h: readPriceOr(cacheWrite, written.cache_write_1h_input_price_per_million),
    // An entry without a price of its input cannot be billed.
    media: input === null ? {} : readMediaPrices(written),
  };
}

export const mediaPriceMembers: Readonly<Record<MediaKind, keyof MediaPrices>> = {
  audioInput: 'audio_input_price_per_million',
  imageInput: 'image_input_price_per_million',
  audioOutput: 'audio_output_price_per_million',
  imageOutput: 'image_output_price_per_million',
};

const readMediaPrices = (written: WrittenPrices): TokenPrices['media'] =>
  Object.fromEntries(
    mediaKinds.flatMap((kind) => {
      const price = readPrice(written[mediaPriceMembers[kind]] ?? null);
      return price === null ? [] : [[kind, price]];
    }),
  );

const readTier = (tier: PriceTierDocument): PriceTier => ({
  abovePromptTokens: tier.above_prompt_tokens,
  ...readPrices(tier),
});

const readPriceOr = (unwritten: TokenPrice | null, text: string | undefined): TokenPrice | null =>
  text === undefined ? unwritten : readPrice(text);

const readPrice = (text: string | null): TokenPrice | null =>
  text === null ? null : (parsePricePerMillion(text) ?? null);

// The input that a model accepts, determined by its name, at any host.

/** Replaces dots between digits by dashes, because hosts and catalogues write both. */
export const plainModelName = (name: string): string => name.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-');

interface NamedCandidate {
  readonly entry: Pick<ModelProviderDocument, 'upstream_model' | 'list_model'>;
  readonly model: Pick<ModelDocument, 'id'>;
}

/**
 * Returns the names at the provider and in the list of models, because the name of a deployment or a profile need not
 * contain the model's name.
 */
const namesOfEntry = ({ upstream_model, list_model }: NamedCandidate['entry']): readonly string[] =>
  list_model === undefined ? [upstream_model] : [upstream_model, list_model];

/** Returns the names by which a model is known, with the catalogue's name last. */
export const modelNames = ({ entry, model }: NamedCandidate): readonly string[] => [...namesOfEntry(entry), model.id];

/**
 * Returns the names that show whether a model is an OpenAI model. The catalogue's name counts if the provider's names
 * are names of deployments. At other hosts the catalogue's name may be any word.
 */
export const openAiNames = ({
  provider: { kind },
  ...named
}: NamedCandidate & { readonly provider: Pick<ProviderDocument, 'kind'> }): readonly string[] =>
  kind === 'openai' || kind === 'azure' ? modelNames(named) : namesOfEntry(named.entry);

/**
 * Returns the name by which a vendor's package knows the model. If the file names a model of the list, this is the
 * list's name without its kind.
 */
export const listedName = ({ upstream_model, list_model }: NamedCandidate['entry']): string =>
  list_model === undefined ? upstream_model : list_model.slice(list_model.lastIndexOf('/') + 1);

/**
 * True for OpenAI's own models with thinking. These models accept no temperature, no stop sequences, and their output
 * bound only under its newer name.
 */
export const isOpenAiReasoningModel = (...names: readonly string[]): boolean =>
  names.some((name) => /(^|[./])(gpt-(?!5-chat)[5-9]|o[1-9](-|$))/.test(plainModelName(name)));

/** True from GPT-5.4 on, because these models refuse tools together with an effort on chat completions. */
export const thinksWithToolsInResponsesOnly = (...names: readonly string[]): boolean =>
  names.some((name) => /(^|[./])gpt-(5-([4-9]|\d\d)(?!\d)|[6-9])/.test(plainModelName(name)));

/** True for models whose thinking can be switched off. Other models call tools on Responses only. */
export const canBeKeptFromThinking = (...names: readonly string[]): boolean =>
  names.some((name) =>
    /(^|[./])gpt-(5-\d{1,2}(?!\d)(?!-(pro|codex|chat))|6-(sol|luna)|6-1-terra)/.test(plainModelName(name)),
  );

/** True from GPT-5.5 on, because these models think although the request does not require it. */
export const thinksByDefault = (...names: readonly string[]): boolean =>
  names.some((name) => /(^|[./])gpt-(5-([5-9]|\d\d)(?!\d)|[6-9])/.test(plainModelName(name)));
