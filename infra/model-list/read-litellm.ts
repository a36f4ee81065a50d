// Reads LiteLLM's list as rows of the model list. The rows are models of the supported provider kinds, with the
// interfaces that the kinds serve. If the list is ambiguous, the more expensive reading is used.
import {
  type ListedMediaPrices,
  type ListedModality,
  type ListedModel,
  type ListedUnitPrices,
  type ProviderKind,
  providerKinds,
} from '../../shared/configuration/model-list/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import {
  cachePrice,
  costOf,
  endOf,
  type LitellmList,
  type LitellmModel,
  type NamedRow,
  nameOf,
  perMillion,
  positive,
} from './litellm-row.ts';
import { readFeatures, readMediaPrices, readModalities, readTextModel } from './read-text-models.ts';
import { exactUsdText } from './usd-text.ts';

export function readLitellm(list: LitellmList): ListedModel[] {
  const models = new Map<string, ListedModel>();
  const texts = Object.entries(list).flatMap(([name, model]) => readTextModel(name, model) ?? []);
  for (const read of [...texts, ...readTaskModels(list)]) {
    const key = `${read.kind} ${read.name}`;
    models.set(key, dearer(models.get(key), read));
  }
  return [...models.values()];
}

/** Returns the more expensive of two rows, because some models are listed under two names. */
function dearer(former: ListedModel | undefined, read: ListedModel): ListedModel {
  if (former === undefined) return read;
  return Number(former.prices.output) >= Number(read.prices.output) ? former : read;
}

// Reads the models of LiteLLM's list for images, speech, transcriptions, reranking and moderations. The models are
// priced by the token, the image, the character, the second or the request. Only interfaces that this gateway serves
// for the kind of provider are read.

interface Task {
  readonly api: ProviderApi;
  /** The path of the interface, if a row names the paths of its model. */
  readonly endpoint: string;
  readonly modalities: readonly Exclude<ListedModality, 'text'>[];
  /** Limits if the list has none. */
  readonly contextLength: number;
  readonly maxOutputTokens: (name: string) => number;
}

/**
 * Maximum input: prompts have 32,000 characters, edits 16 images with a mask and a markup (types of OpenAI's SDK 7.55),
 * each of at most 8,192 tokens.
 */
const imageInputTokens = 32_000 * 4 + 18 * 8_192;
/**
 * Returns the tokens of an image of high quality with 1024x1536 pixels (OpenAI's guide "Image generation", 2026-09);
 * later models generate 3840x2160.
 */
const imageOutputTokens = (name: string): number => (/^gpt-image-1|^chatgpt-image/.test(name) ? 8_192 : 65_536);

/** Tasks by the modes of the list. */
const tasks: Readonly<Record<string, Task>> = {
  image_generation: {
    api: 'images',
    endpoint: '/v1/images/',
    modalities: ['image'],
    contextLength: imageInputTokens,
    maxOutputTokens: imageOutputTokens,
  },
  // A text has at most 4,096 characters (types of OpenAI's SDK 7.55); 1,250 tokens of speech are a minute.
  audio_speech: {
    api: 'speech',
    endpoint: '/v1/audio/speech',
    modalities: [],
    contextLength: 4_096 * 4,
    maxOutputTokens: () => 8_192,
  },
  audio_transcription: {
    api: 'transcriptions',
    endpoint: '/v1/audio/transcriptions',
    modalities: ['audio'],
    contextLength: 16_000,
    maxOutputTokens: () => 2_000,
  },
  rerank: { api: 'rerank', endpoint: '/v1/rerank', modalities: [], contextLength: 4_096, maxOutputTokens: () => 1 },
  moderation: {
    api: 'moderations',
    endpoint: '/v1/moderations',
    modalities: ['image'],
    contextLength: 32_768,
    maxOutputTokens: () => 1,
  },
};

/** Names of entries that are not models, of models that answer on a socket only, and of models that generate music. */
const leftOutNames = /realtime|live|lyria|@|\*|^ft:/;

/** Image models whose format the gateway can write, by their kinds. */
const translatedImages: Readonly<Partial<Record<ProviderKind, RegExp>>> = {
  google: /^gemini-.*(image|nano-banana)/,
  vertex: /^gemini-.*(image|nano-banana)/,
  bedrock: /nova-canvas/,
};

function readTaskModels(list: LitellmList): ListedModel[] {
  const imagePrices = readImagePrices(list);
  const rows = Object.entries(list).flatMap(([listName, model]) => {
    const match = nameOf(listName, model);
    return match?.isName === true ? [{ ...match, model }] : [];
  });
  const dearestImage = new Map<string, number>();
  for (const { name, model } of rows)
    dearestImage.set(name, Math.max(dearestImage.get(name) ?? 0, costOf(model, 'output_cost_per_image') ?? 0));
  // Some models are only listed by their sizes.
  const known = new Set(rows.map(({ kind, name }) => `${kind} ${name}`));
  const bySizes = [...imagePrices].flatMap(([key, { named, endsOn }]) =>
    known.has(key) ? [] : [{ ...named, model: { mode: 'image_generation', deprecation_date: endsOn } }],
  );
  return [...rows, ...bySizes].flatMap((row) => {
    const image = {
      dearest: dearestImage.get(row.name) ?? 0,
      bySize: imagePrices.get(`${row.kind} ${row.name}`)?.prices,
    };
    return readTaskModel(row, image) ?? [];
  });
}

interface TaskRow extends NamedRow {
  readonly model: LitellmModel;
}

interface ImageCosts {
  /** Highest price of an image, at any host of the model. */
  readonly dearest: number;
  readonly bySize: Readonly<Record<string, string>> | undefined;
}

function readTaskModel({ kind, name, model }: TaskRow, image: ImageCosts): ListedModel | undefined {
  const task = tasks[String(model.mode)];
  if (task === undefined || leftOutNames.test(name)) return undefined;
  const { api } = task;
  if (!providerKinds[kind].apis.includes(api) || !isCallable(kind, name, model, task)) return undefined;
  const input = costOf(model, 'input_cost_per_token') ?? 0;
  const output = outputCost(model);
  const maxOutputTokens = maxOutputOf(model, name, task);
  const units = unitPrices(model, task, {
    ...image,
    bySize: withDefault(name, image.bySize, output * maxOutputTokens),
  });
  // A price of 0 means that the list does not know the price, except for OpenAI's moderations, which are documented as
  // free.
  const isFree = api === 'moderations' && kind === 'openai';
  if (input === 0 && output === 0 && units === undefined && !isFree) return undefined;
  const alsoChat = api === 'images' && kind in translatedImages && endpointsOf(model)?.includes('/v1/chat/completions');
  return {
    kind,
    name,
    prices: {
      input: perMillion(input),
      output: perMillion(output),
      cachedInput: cachePrice(
        Math.max(
          costOf(model, 'cache_read_input_token_cost') ?? 0,
          costOf(model, 'cache_read_input_image_token_cost') ?? 0,
        ),
      ),
    },
    contextLength: positive(model.max_input_tokens) ?? task.contextLength,
    maxOutputTokens,
    features: alsoChat ? readFeatures(kind, name, model) : ['streaming'],
    modalities: ['text', ...new Set([...task.modalities, ...(alsoChat ? readModalities(model) : [])])],
    apis: alsoChat ? ['generate-content', 'images'] : [api],
    media: mediaPrices(model),
    tiers: [],
    ...(units && { units }),
    ...endOf(model),
  };
}

const endpointsOf = ({ supported_endpoints: endpoints }: LitellmModel): readonly string[] | undefined =>
  Array.isArray(endpoints) ? endpoints : undefined;

const isCallable = (kind: ProviderKind, name: string, model: LitellmModel, { api, endpoint }: Task): boolean =>
  (api !== 'images' || translatedImages[kind]?.test(name) !== false) &&
  endpointsOf(model)?.some((one) => one.startsWith(endpoint)) !== false;

/**
 * Returns the maximum output. Output that is not priced by the token counts as one token, except for transcriptions.
 */
const maxOutputOf = (model: LitellmModel, name: string, { api, maxOutputTokens }: Task): number =>
  outputCost(model) === 0 && api !== 'transcriptions'
    ? 1
    : (positive(model.max_output_tokens) ?? maxOutputTokens(name));

/** Returns the price of the output. If text has no price, the model's output is only of the kind that has a price. */
const outputCost = (model: LitellmModel): number =>
  Math.max(costOf(model, 'output_cost_per_token') ?? 0, costOf(model, 'output_cost_per_reasoning_token') ?? 0) ||
  (costOf(model, 'output_cost_per_image_token') ?? costOf(model, 'output_cost_per_audio_token') ?? 0);

function mediaPrices(model: LitellmModel): ListedMediaPrices {
  const output = outputCost(model);
  return readMediaPrices({ ...model, output_cost_per_token: output });
}

function unitPrices(model: LitellmModel, { api }: Task, { dearest, bySize }: ImageCosts): ListedUnitPrices | undefined {
  const cost = (...members: readonly string[]): string | undefined => {
    // If two fields have a value, they are two names of one price.
    const most = Math.max(...members.map((member) => costOf(model, member) ?? 0));
    return most === 0 ? undefined : exactUsdText(most);
  };
  const prices: ListedUnitPrices = {
    ...(api === 'images' && dearest > 0 && { output_price_per_image: exactUsdText(dearest) }),
    ...(api === 'images' && bySize && { image_prices: bySize }),
    ...(api === 'speech' && definedAs('input_price_per_character', cost('input_cost_per_character'))),
    ...(api === 'transcriptions' &&
      definedAs('input_price_per_second', cost('input_cost_per_second', 'output_cost_per_second'))),
    ...(api === 'rerank' && definedAs('price_per_request', cost('input_cost_per_query'))),
  };
  return Object.keys(prices).length === 0 ? undefined : prices;
}

/**
 * Images that a provider generates if a call names neither size nor quality. Others choose by the prompt. Sources:
 * platform.openai.com/docs/api-reference/images/create and
 * learn.microsoft.com/azure/ai-foundry/openai/dall-e-quickstart, November 2026.
 */
const usualImages: readonly (readonly [name: RegExp, image: string])[] = [[/^dall-e-3\b/, '1024x1024/standard']];

/**
 * Adds the default image, which is the documented image. Without a documented image, a quality that the list omits
 * costs at most its limit of tokens.
 */
function withDefault(name: string, bySize: ImageCosts['bySize'], mostUsd: number): ImageCosts['bySize'] {
  const usual = bySize?.[usualImages.find(([names]) => names.test(name))?.[1] ?? ''];
  if (usual !== undefined) return { ...bySize, default: usual };
  return bySize === undefined || !lacksHigh(Object.keys(bySize))
    ? bySize
    : { ...bySize, default: exactUsdText(mostUsd) };
}

const lacksHigh = (names: readonly string[]): boolean =>
  names.some((name) => name.endsWith('/low')) && !names.some((name) => name.endsWith('/high'));

const definedAs = (name: keyof ListedUnitPrices, text: string | undefined): ListedUnitPrices =>
  text === undefined ? {} : { [name]: text };

// Prices of images by size and quality, for each of which LiteLLM's list has a row: `high/1024-x-1536/gpt-image-1`.

interface SizedImages {
  readonly named: NamedRow;
  /** Prices by `SIZE/QUALITY`. */
  readonly prices: Readonly<Record<string, string>>;
  readonly endsOn: unknown;
}

const sizedName = /^(low|medium|high|standard|hd)\/(\d+)-x-(\d+)\/([^/]+)$/;

/** Returns the prices by `KIND NAME` of the model. */
function readImagePrices(list: LitellmList): ReadonlyMap<string, SizedImages> {
  const found = new Map<string, SizedImages>();
  for (const [listName, model] of Object.entries(list)) {
    const row = nameOf(listName, model);
    const [, quality = '', width = '', height = '', name = ''] = sizedName.exec(row?.name ?? '') ?? [];
    const cost = imageCost(model, Number(width) * Number(height));
    if (row === undefined || name === '' || cost === undefined) continue;
    const key = `${row.kind} ${name}`;
    const former = found.get(key)?.prices;
    found.set(key, {
      named: { kind: row.kind, name, isName: true, api: undefined },
      prices: { ...former, [`${width}x${height}/${quality}`]: exactUsdText(cost) },
      endsOn: model.deprecation_date,
    });
  }
  for (const [key, sized] of found) found.set(key, { ...sized, prices: withoutAliases(sized.prices) });
  return found;
}

/** Returns the price of an image. A price of 0 means that the list does not know it. */
function imageCost(model: LitellmModel, pixels: number): number | undefined {
  const whole = costOf(model, 'input_cost_per_image') ?? 0;
  // The price of a pixel has more digits than the price of an image from which it was computed.
  const byPixel = Number(((costOf(model, 'input_cost_per_pixel') ?? 0) * pixels).toFixed(6));
  return whole || byPixel || undefined;
}

/**
 * Removes aliases. If other qualities are listed, `standard` is a former name of one quality, which the list prices as
 * the cheapest.
 */
const withoutAliases = (prices: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.keys(prices).some((name) => name.endsWith('/low'))
    ? Object.fromEntries(Object.entries(prices).filter(([name]) => !name.endsWith('/standard')))
    : prices;
