// Fills in the absent fields of a provider entry. Written values take precedence; then stored values that were filled
// in before, so that no upgrade changes a price or a feature by itself; then the model list.

import { canonicalJson } from '../../foundation/ids/index.ts';
import { type JsonObject, mediaKinds } from '../../protocol/wire/index.ts';
import {
  type MediaPrices,
  type ModelProviderDocument,
  mediaPriceMembers,
  type PriceTierDocument,
  type ProviderDocument,
  unitPriceMembers,
} from '../catalogue/index.ts';
import { type ListedModel, type ListedPrices, listedFeatures, type ModelList } from '../model-list/index.ts';
import type { EntryInFile } from './catalogue-schema.ts';

const featureMembers = listedFeatures.filter((feature) => feature !== 'streaming');

const mediaPrices = ({ media }: ListedModel): MediaPrices =>
  Object.fromEntries(
    mediaKinds.flatMap((kind) => (media[kind] === undefined ? [] : [[mediaPriceMembers[kind], media[kind]]])),
  );

/** Fields that the list can fill in, in the order of the file. Fields of `supported_params` are among the others. */
const listableMembers = [
  'apis',
  'input_price_per_million',
  'output_price_per_million',
  'cached_input_price_per_million',
  'cache_write_input_price_per_million',
  'cache_write_1h_input_price_per_million',
  ...Object.values(mediaPriceMembers),
  ...unitPriceMembers,
  'price_tiers',
  'context_length',
  'max_output_tokens',
  ...featureMembers,
  'tools_in_streams',
  'streaming',
] as const;

/** Returns the list's values for an entry, by the fields of the file. */
export const listedMembers = (
  listed: ListedModel,
  { apis, kind }: Pick<ProviderDocument, 'apis' | 'kind'>,
): JsonObject => {
  // Another kind may serve the model by other interfaces.
  const servedApis = listed.kind === kind ? listed.apis.filter((api) => apis.includes(api)) : apis;
  return {
    apis: servedApis.length === apis.length ? undefined : servedApis,
    ...priceMembers(listed.prices),
    ...mediaPrices(listed),
    ...listed.units,
    price_tiers:
      listed.tiers.length === 0
        ? undefined
        : listed.tiers.map(
            ({ abovePromptTokens, ...prices }): PriceTierDocument => ({
              above_prompt_tokens: abovePromptTokens,
              ...priceMembers(prices),
            }),
          ),
    context_length: listed.contextLength,
    max_output_tokens: listed.maxOutputTokens,
    ...Object.fromEntries(featureMembers.map((feature) => [feature, listed.features.includes(feature)])),
    tools_in_streams: listed.toolsInStreams,
    streaming: listed.features.includes('streaming') || listed.apis.includes('embeddings'),
  };
};

/** Returns the prices that the list has. */
function priceMembers({ input, output, cachedInput, cacheWrite, cacheWrite1h }: ListedPrices) {
  return {
    input_price_per_million: input,
    output_price_per_million: output,
    ...(cachedInput === undefined ? {} : { cached_input_price_per_million: cachedInput }),
    ...(cacheWrite === undefined ? {} : { cache_write_input_price_per_million: cacheWrite }),
    ...(cacheWrite1h === undefined ? {} : { cache_write_1h_input_price_per_million: cacheWrite1h }),
  };
}

/** Returns the fields of an entry that the list could fill in. */
export function entryMembers(entry: EntryInFile | ModelProviderDocument): JsonObject {
  const all: JsonObject = { ...entry, ...entry.supported_params };
  return Object.fromEntries(listableMembers.map((member) => [member, all[member]]));
}

/** Adds token prices of 0, if another unit has a price. */
export const withTokenPrices = (values: JsonObject): JsonObject =>
  unitPriceMembers.every((member) => values[member] === undefined)
    ? values
    : {
        ...values,
        input_price_per_million: orZero(values.input_price_per_million),
        output_price_per_million: orZero(values.output_price_per_million),
      };

const orZero = (price: unknown): unknown => (price === undefined ? '0' : price);

interface CompletedMembers {
  readonly values: JsonObject;
  /**
   * Fields that the file wrote itself; undefined when the list did not know the model, so that the file wrote all
   * fields.
   */
  readonly written: readonly string[] | undefined;
}

interface FilledValues extends CompletedMembers {
  /** Values from the current list that are neither written by the file nor stored. */
  readonly filled: JsonObject;
}

/** Completes an entry. `former` is the stored entry. `listed` is undefined if the list does not know the model. */
export function completeMembers(
  written: JsonObject,
  former: CompletedMembers | undefined,
  listed: JsonObject | undefined,
): FilledValues {
  const isStored = former?.written !== undefined;
  const values: Record<string, unknown> = {};
  const filled: Record<string, unknown> = {};
  const ownMembers: string[] = [];
  for (const member of Object.keys(written)) {
    const isFilled = isStored && former.written?.includes(member) === false;
    const isLeftOut = written[member] === undefined;
    const value = isLeftOut ? (isFilled ? former.values[member] : listed?.[member]) : written[member];
    values[member] = value;
    if (isLeftOut && !isFilled && value !== undefined) filled[member] = value;
    // A value that stays keeps its origin, so that applying a file that writes it out, as an export does, changes
    // nothing.
    const isListValue =
      isStored && isSame(former.values[member], value) ? isFilled : isLeftOut || isSame(value, listed?.[member]);
    if (!isListValue) ownMembers.push(member);
  }
  return { values, filled, written: isStored || listed !== undefined ? ownMembers : undefined };
}

export const isSame = (one: unknown, other: unknown): boolean =>
  one === undefined || other === undefined ? one === other : canonicalJson(one) === canonicalJson(other);

/** Returns the provider's name for a model, if the file does not state it. */
export function upstreamModelOf(
  modelId: string,
  { provider: providerId, upstream_model: written }: EntryInFile,
  { kind, region }: Pick<ProviderDocument, 'kind' | 'region'>,
  list: ModelList,
): string {
  if (written !== undefined) return written;
  // The upstream name of `acme/large-1` at acme is `large-1`.
  const upstreamName = modelId.startsWith(`${providerId}/`) ? modelId.slice(providerId.length + 1) : modelId;
  const slash = modelId.indexOf('/');
  if (kind === undefined || slash === -1 || list.find(kind, upstreamName, region) !== undefined) return upstreamName;
  return modelId.slice(slash + 1);
}
