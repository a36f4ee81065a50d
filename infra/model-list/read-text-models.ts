// Reads the models of LiteLLM's list that answer with text or vectors, priced by the token.
import {
  type ListedFeature,
  type ListedMediaPrices,
  type ListedModality,
  type ListedModel,
  type ListedPrices,
  type ListedTier,
  type ProviderKind,
  providerKinds,
} from '../../shared/configuration/model-list/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import { cachePrice, costOf, endOf, type LitellmModel, nameOf, perMillion, positive } from './litellm-row.ts';

/**
 * Names of models that are not priced by tokens of text, audio and images, that cannot be called, or whose price is
 * wrong. For example, Cohere's light multilingual embeddings cost a thousand times as much as similar models in the
 * list.
 */
const leftOutNames =
  /native-audio|tts|realtime|live|transcribe|voxtral|whisper|lyria|robotics|search|deep-research|computer-use|image|multimodalembedding|-cloud$|^ft:|container|safeguard|guard|@(?!\d{8}$)|\*|commitment|^together-ai-|router|^embed-multilingual-light/;

export function readTextModel(listName: string, model: LitellmModel): ListedModel | undefined {
  const { kind, name, isName, api } = nameOf(listName, model) ?? { name: listName };
  const mode = String(model.mode);
  if (kind === undefined || isName !== true) return undefined;
  if (!['chat', 'responses', 'embedding'].includes(mode) || leftOutNames.test(name)) return undefined;
  const prices = readPrices(model, '', mode === 'embedding');
  const contextLength = positive(model.max_input_tokens) ?? positive(model.max_tokens);
  if (prices === undefined || contextLength === undefined) return undefined;
  if (kind !== 'ollama' && Number(prices.input) === 0) return undefined;
  if (speaksMore(model)) return undefined;
  const isEmbedding = mode === 'embedding';
  if (isEmbedding && !providerKinds[kind].apis.includes('embeddings')) return undefined;
  return {
    kind,
    name,
    prices,
    contextLength,
    // A vector is not an output that is paid for.
    maxOutputTokens: isEmbedding ? 1 : (positive(model.max_output_tokens) ?? contextLength),
    features: isEmbedding ? [] : readFeatures(kind, name, model),
    modalities: ['text', ...(isEmbedding ? [] : readModalities(model))],
    apis: isEmbedding ? ['embeddings'] : api === undefined ? readApis(kind, model) : [api],
    media: isEmbedding ? {} : readMediaPrices(model),
    tiers: readTiers(model).filter(({ abovePromptTokens }) => abovePromptTokens < contextLength),
    ...endOf(model),
  };
}

/** Reads the prices of a tier. `suffix` is the suffix of the tier, such as `_above_200k_tokens`. */
function readPrices(model: LitellmModel, suffix: string, isEmbedding: boolean): ListedPrices | undefined {
  const cost = (member: string) => costOf(model, `${member}${suffix}`);
  const input = cost('input_cost_per_token');
  const output = isEmbedding ? 0 : cost('output_cost_per_token');
  if (input === undefined || output === undefined) return undefined;
  const reasoning = suffix === '' ? (cost('output_cost_per_reasoning_token') ?? 0) : 0;
  return {
    input: perMillion(input),
    output: perMillion(Math.max(output, reasoning)),
    cachedInput: cachePrice(cost('cache_read_input_token_cost')),
    cacheWrite: cachePrice(cost('cache_creation_input_token_cost')),
    cacheWrite1h: cachePrice(cost('cache_creation_input_token_cost_above_1hr')),
  };
}

const tierMember = /^input_cost_per_token(_above_(\d+)k_tokens)$/;

function readTiers(model: LitellmModel): ListedTier[] {
  const tiers = Object.keys(model).flatMap((member): ListedTier[] => {
    const [, suffix, thousands] = tierMember.exec(member) ?? [];
    if (suffix === undefined) return [];
    const prices = readPrices(model, suffix, false);
    return prices === undefined ? [] : [{ abovePromptTokens: Number(thousands) * 1_000, ...prices }];
  });
  return tiers.toSorted((a, b) => a.abovePromptTokens - b.abovePromptTokens);
}

const mediaCosts = {
  audioInput: ['input_cost_per_audio_token', 'input_cost_per_token'],
  imageInput: ['input_cost_per_image_token', 'input_cost_per_token'],
  audioOutput: ['output_cost_per_audio_token', 'output_cost_per_token'],
  imageOutput: ['output_cost_per_image_token', 'output_cost_per_token'],
} as const satisfies Record<keyof ListedMediaPrices, readonly [string, string]>;

/** Reads prices of media, which differ from the prices of text. */
export const readMediaPrices = (model: LitellmModel): ListedMediaPrices =>
  Object.fromEntries(
    Object.entries(mediaCosts).flatMap(([kind, [member, textMember]]) => {
      const cost = costOf(model, member) ?? 0;
      return cost === 0 || cost === costOf(model, textMember) ? [] : [[kind, perMillion(cost)]];
    }),
  );

/** Returns whether the model answers with something that has no price by the token. */
function speaksMore(model: LitellmModel): boolean {
  const output: readonly unknown[] = Array.isArray(model.supported_output_modalities)
    ? model.supported_output_modalities
    : [];
  const hasPrice = (member: string) => costOf(model, member) !== undefined;
  return (
    output.includes('video') ||
    (output.includes('audio') && !hasPrice('output_cost_per_audio_token')) ||
    (output.includes('image') && hasPrice('output_cost_per_image') && !hasPrice('output_cost_per_image_token'))
  );
}

/** Kinds that refuse `json_schema` (api-docs.deepseek.com/guides/json_mode), although the list states the opposite. */
const withoutSchemas: readonly ProviderKind[] = ['deepseek'];
/** Models that are older than JSON mode. */
const withoutJson = /^gpt-(4|4-0613|4-32k.*|35-turbo-16k.*)$/;

export function readFeatures(kind: ProviderKind, name: string, model: LitellmModel): ListedFeature[] {
  const tools = model.supports_function_calling === true;
  const schema = model.supports_response_schema === true && !withoutSchemas.includes(kind);
  const isAsked: Record<ListedFeature, boolean> = {
    tools,
    vision: readModalities(model).includes('image'),
    // The list has no such field. Models that call tools answer in JSON too, by a mode of their own or by a tool.
    json_mode: schema || (tools && !withoutJson.test(name)),
    json_schema: schema,
    streaming: model.supports_native_streaming !== false,
  };
  return (Object.keys(isAsked) as ListedFeature[]).filter((feature) => isAsked[feature]);
}

/** Reads the input kinds, without video that costs more than text and has no price of its own. */
export function readModalities(model: LitellmModel): Exclude<ListedModality, 'text'>[] {
  const input = costOf(model, 'input_cost_per_token') ?? 0;
  const isAsCheap = (member: string) => (costOf(model, member) ?? 0) <= input;
  const takes: Record<Exclude<ListedModality, 'text'>, boolean> = {
    image: model.supports_vision === true,
    audio: model.supports_audio_input === true || readMediaPrices(model).audioInput !== undefined,
    video: model.supports_video_input === true && isAsCheap('input_cost_per_video_token'),
    file: model.supports_pdf_input === true,
  };
  return (Object.keys(takes) as Exclude<ListedModality, 'text'>[]).filter((modality) => takes[modality]);
}

const ownApi: Partial<Record<ProviderKind, ProviderApi>> = {
  anthropic: 'messages',
  google: 'generate-content',
  vertex: 'generate-content',
  bedrock: 'converse',
};

function readApis(kind: ProviderKind, model: LitellmModel): ProviderApi[] {
  const nativeApi = ownApi[kind];
  if (nativeApi !== undefined) return [nativeApi];
  const hasResponses = kind === 'openai' || kind === 'azure' || kind === 'xai';
  if (!hasResponses) return ['chat-completions'];
  const endpoints = Array.isArray(model.supported_endpoints) ? model.supported_endpoints : undefined;
  const isResponsesOnly = model.mode === 'responses' && endpoints?.includes('/v1/chat/completions') !== true;
  if (isResponsesOnly) return ['responses'];
  return endpoints === undefined || endpoints.includes('/v1/responses')
    ? ['chat-completions', 'responses']
    : ['chat-completions'];
}
