// The catalogue in memory: every model with the candidates that can serve it, prices as integers.
import { type HubApi, type InterfaceId, servingApis } from '../../foundation/constants/index.ts';
import { parsePricePerMillion, type TokenPrice } from '../../foundation/money/index.ts';
import type {
  CatalogueDocument,
  ModelDocument,
  ModelProviderDocument,
  ProviderDocument,
  ServiceDocument,
} from './catalogue-document.ts';

/** Pico-USD per token. Null: the entry cannot be billed. */
export interface CandidatePrices {
  readonly input: TokenPrice | null;
  readonly output: TokenPrice | null;
  /** Price of cached prompt tokens; the input price where the entry names none. */
  readonly cachedInput: TokenPrice | null;
  /** Price of prompt tokens that are written into a cache; the input price where the entry names none. */
  readonly cacheWrite: TokenPrice | null;
  /** Of those that are kept there for an hour; `cacheWrite` where the entry names none. */
  readonly cacheWrite1h: TokenPrice | null;
}

/** One provider that can serve one model: what a plan is made of. */
export interface Candidate {
  readonly model: ModelDocument;
  readonly provider: ProviderDocument;
  readonly entry: ModelProviderDocument;
  readonly prices: CandidatePrices;
}

/** Whether its provider speaks an interface that can serve this one of a client. */
export const serves = (candidate: Candidate, interfaceId: InterfaceId): boolean =>
  speaksOwn(candidate, interfaceId) || hubApisFor(candidate, interfaceId).length > 0;

/** A call of this interface is relayed to it as it is. */
export const speaksOwn = ({ provider }: Pick<Candidate, 'provider'>, interfaceId: InterfaceId): boolean =>
  provider.apis.includes(servingApis[interfaceId].own);

/** The interfaces of its provider that a call of this one is translated to, the one that carries most first. */
export function hubApisFor({ provider }: Pick<Candidate, 'provider'>, interfaceId: InterfaceId): readonly HubApi[] {
  const serving: readonly HubApi[] = servingApis[interfaceId].throughHub;
  return serving.filter((api) => provider.apis.includes(api));
}

export interface CatalogueModel {
  readonly model: ModelDocument;
  /** In catalogue order. */
  readonly candidates: readonly Candidate[];
}

export interface Catalogue {
  /** The content hash of the stored document. */
  readonly version: string;
  readonly service: ServiceDocument;
  readonly providers: ReadonlyMap<string, ProviderDocument>;
  /** In catalogue order. */
  readonly models: ReadonlyMap<string, CatalogueModel>;
}

/** Builds the lookups of a stored document. Trusts it: it was checked whole before it was written. */
export function loadCatalogue(document: CatalogueDocument, version: string): Catalogue {
  const providers = new Map(document.providers.map((provider) => [provider.id, provider]));
  const models = document.models.map((model): [string, CatalogueModel] => [
    model.id,
    { model, candidates: model.providers.flatMap((entry) => toCandidate(model, entry, providers.get(entry.provider))) },
  ]);
  return { version, service: document.service, providers, models: new Map(models) };
}

function toCandidate(
  model: ModelDocument,
  entry: ModelProviderDocument,
  provider: ProviderDocument | undefined,
): Candidate[] {
  if (provider === undefined) return [];
  const input = readPrice(entry.input_price_per_million);
  const cacheWrite = readPriceOr(input, entry.cache_write_input_price_per_million);
  const prices = {
    input,
    output: readPrice(entry.output_price_per_million),
    cachedInput: readPriceOr(input, entry.cached_input_price_per_million),
    cacheWrite,
    cacheWrite1h: readPriceOr(cacheWrite, entry.cache_write_1h_input_price_per_million),
  };
  return [{ model, provider, entry, prices }];
}

const readPriceOr = (unwritten: TokenPrice | null, text: string | undefined): TokenPrice | null =>
  text === undefined ? unwritten : readPrice(text);

const readPrice = (text: string | null): TokenPrice | null =>
  text === null ? null : (parsePricePerMillion(text) ?? null);
