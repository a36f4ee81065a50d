// Reads a model of the shipped list, which is a row of models.json by the names of its columns.
import type { ProviderApi } from '../../foundation/constants/index.ts';
import { type MediaKind, mediaKinds } from '../../protocol/wire/index.ts';
import type { ProviderKind } from './provider-kinds.ts';

/** Prices as decimal strings, USD per million tokens. Absent: the default of the gateway file. */
export interface ListedPrices {
  readonly input: string;
  readonly output: string;
  readonly cachedInput?: string | undefined;
  readonly cacheWrite?: string | undefined;
  readonly cacheWrite1h?: string | undefined;
}

/** Prices of tokens other than text, if they differ. */
export type ListedMediaPrices = Readonly<Partial<Record<MediaKind, string>>>;

/** Prices in USD per unit. */
export interface ListedUnitPrices {
  readonly output_price_per_image?: string;
  readonly image_prices?: Readonly<Record<string, string>>;
  readonly input_price_per_character?: string;
  readonly input_price_per_second?: string;
  readonly price_per_request?: string;
}

export interface ListedTier extends ListedPrices {
  readonly abovePromptTokens: number;
}

export const listedFeatures = ['tools', 'vision', 'json_mode', 'json_schema', 'streaming'] as const;
export type ListedFeature = (typeof listedFeatures)[number];
export const listedModalities = ['text', 'image', 'audio', 'video', 'file'] as const;
export type ListedModality = (typeof listedModalities)[number];

export interface ListedModel {
  readonly kind: ProviderKind;
  /** The model's name at the provider, which is `upstream_model` of an entry. */
  readonly name: string;
  readonly prices: ListedPrices;
  readonly contextLength: number;
  readonly maxOutputTokens: number;
  readonly features: readonly ListedFeature[];
  readonly modalities: readonly ListedModality[];
  /** False if the model supports tools only in whole answers. */
  readonly toolsInStreams?: false | undefined;
  readonly apis: readonly ProviderApi[];
  readonly tiers: readonly ListedTier[];
  readonly media: ListedMediaPrices;
  /** Prices per unit, by their fields in the gateway file; absent for most. */
  readonly units?: ListedUnitPrices | undefined;
  /** The day on which the provider ends the model, if the provider has announced it. */
  readonly endsOn?: string | undefined;
}

/** Names of the columns of a row. */
export const listColumns = [
  'kind',
  'name',
  'input',
  'output',
  'cached_input',
  'cache_write',
  'cache_write_1h',
  'context_length',
  'max_output_tokens',
  'features',
  'modalities',
  'apis',
  'tiers: above_prompt_tokens, input, output, cached_input, cache_write, cache_write_1h',
  'ends_on',
  'media: audio_input, image_input, audio_output, image_output',
  'units',
] as const;

type PriceCells = readonly [string, string, (string | null)?, (string | null)?, (string | null)?];
type TierCells = readonly [number, ...PriceCells];
export type ListRow = readonly [
  kind: string,
  name: string,
  input: string,
  output: string,
  cachedInput: string | null,
  cacheWrite: string | null,
  cacheWrite1h: string | null,
  contextLength: number,
  maxOutputTokens: number,
  features: string,
  modalities: string,
  apis: string,
  tiers: readonly TierCells[] | null,
  endsOn: string | null,
  media?: readonly (string | null)[] | null,
  units?: ListedUnitPrices,
];

export interface ListDocument {
  readonly date: string;
  readonly source: string;
  readonly licence: string;
  readonly columns: readonly string[];
  readonly models: readonly ListRow[];
}

export function toRow({ prices, tiers, media, units, ...model }: ListedModel): ListRow {
  return [
    model.kind,
    model.name,
    prices.input,
    prices.output,
    prices.cachedInput ?? null,
    prices.cacheWrite ?? null,
    prices.cacheWrite1h ?? null,
    model.contextLength,
    model.maxOutputTokens,
    model.features.join(' '),
    model.modalities.join(' '),
    model.apis.join(' '),
    tiers.length === 0 ? null : tiers.map(tierCells),
    model.endsOn ?? null,
    ...lastCells(media, units),
  ];
}

/** Returns the last cells of a row, without empty cells at its end. */
function lastCells(
  media: ListedMediaPrices,
  units: ListedUnitPrices | undefined,
): [] | [readonly (string | null)[] | null, ListedUnitPrices?] {
  const cells = Object.keys(media).length === 0 ? null : mediaKinds.map((kind) => media[kind] ?? null);
  if (units !== undefined) return [cells, units];
  return cells === null ? [] : [cells];
}

const tierCells = ({
  abovePromptTokens,
  input,
  output,
  cachedInput,
  cacheWrite,
  cacheWrite1h,
}: ListedTier): TierCells => [
  abovePromptTokens,
  input,
  output,
  cachedInput ?? null,
  cacheWrite ?? null,
  cacheWrite1h ?? null,
];

/** Converts a row. The row is not checked here, because a test checks the whole list. */
export function fromRow(row: ListRow): ListedModel {
  const [kind, name, input, output, cachedInput, cacheWrite, cacheWrite1h, contextLength, maxOutputTokens] = row;
  const [features, modalities, apis, tiers, endsOn, media, units] = row.slice(9) as unknown as readonly [
    string,
    string,
    string,
    readonly TierCells[] | null,
    string | null,
    (readonly (string | null)[] | null)?,
    ListedUnitPrices?,
  ];
  const words = <Word>(text: string) => text.split(' ') as Word[];
  return {
    kind: kind as ProviderKind,
    name,
    prices: pricesOf([input, output, cachedInput, cacheWrite, cacheWrite1h]),
    contextLength,
    maxOutputTokens,
    features: features === '' ? [] : words<ListedFeature>(features),
    modalities: words<ListedModality>(modalities),
    ...(kind === 'bedrock' && wholeTools.test(name) ? { toolsInStreams: false as const } : {}),
    apis: words<ProviderApi>(apis),
    tiers: (tiers ?? []).map(([abovePromptTokens, ...cells]) => ({ abovePromptTokens, ...pricesOf(cells) })),
    media: Object.fromEntries(mediaKinds.flatMap((kind, at) => (media?.[at] == null ? [] : [[kind, media[at]]]))),
    ...(units && { units }),
    endsOn: endsOn ?? undefined,
  };
}

/**
 * Matches models that no list marks
 * (docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html, November 2026).
 */
const wholeTools = /(^|[./])meta\.llama/;

const pricesOf = ([input, output, cachedInput, cacheWrite, cacheWrite1h]: PriceCells): ListedPrices => ({
  input,
  output,
  cachedInput: cachedInput ?? undefined,
  cacheWrite: cacheWrite ?? undefined,
  cacheWrite1h: cacheWrite1h ?? undefined,
});
