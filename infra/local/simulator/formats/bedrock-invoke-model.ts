// Implements Bedrock's InvokeModel: embeddings in the formats of Titan, Cohere and Nova, and the images of Nova Canvas,
// chosen by the body.
import { type SimulatedCompletion, usageMember } from '../answer.ts';
import type { Received, SimulatorCall, SimulatorFormat } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { pngOf } from '../png.ts';
import { converse } from './bedrock-converse.ts';
import { vectorOf } from './openai-embeddings.ts';

const imagesMax = 5;
const promptMaxCharacters = 1_024;

const isCanvas = (body: unknown): body is CanvasBody => {
  const { taskType } = (body ?? {}) as Partial<CanvasBody>;
  return taskType === 'TEXT_IMAGE' || taskType === 'IMAGE_VARIATION';
};

const promptOf = ({ textToImageParams, imageVariationParams }: CanvasBody): string =>
  (textToImageParams ?? imageVariationParams)?.text ?? '';

const canvasJson = (body: CanvasBody, { choices }: SimulatedCompletion): object => ({
  images: choices.map((_choice, at) => pngOf(`${promptOf(body)} ${at}`).toString('base64')),
});

interface Titan {
  readonly inputText: string;
  readonly dimensions?: number;
}
interface Cohere {
  readonly input_type: string;
  readonly texts: readonly string[];
  readonly output_dimension?: number;
}
interface Nova {
  readonly taskType: string;
  readonly singleEmbeddingParams: {
    readonly embeddingPurpose: string;
    readonly embeddingDimension?: number;
    readonly text: { readonly truncationMode: string; readonly value: string };
  };
}
type InvokeModelBody = Titan | Cohere | Nova;

interface EmbeddingRequest {
  readonly texts: readonly string[];
  readonly dimensions: number;
  readonly lengths: readonly number[];
}

const textsMax = 96;
const inputTypes = ['search_document', 'search_query', 'classification', 'clustering'];

function inputOf(body: InvokeModelBody): EmbeddingRequest | undefined {
  if ('inputText' in body) {
    return { texts: [body.inputText], dimensions: body.dimensions ?? 1_024, lengths: [256, 512, 1_024] };
  }
  if ('texts' in body) {
    if (!inputTypes.includes(body.input_type) || body.texts.length > textsMax) return undefined;
    return { texts: body.texts, dimensions: body.output_dimension ?? 1_536, lengths: [256, 512, 1_024, 1_536] };
  }
  if (body.taskType !== 'SINGLE_EMBEDDING') return undefined;
  const { text, embeddingDimension = 3_072 } = body.singleEmbeddingParams;
  return { texts: [text.value], dimensions: embeddingDimension, lengths: [256, 384, 1_024, 3_072] };
}

function read({ body, fromPath: { model = '' } }: Received): ModelRequest | string {
  if (isCanvas(body)) return readCanvas(model, body);
  const input = inputOf((body ?? {}) as InvokeModelBody);
  if (input === undefined || input.texts.length === 0 || input.texts.includes('')) {
    return 'Malformed input request, please reformat your input and try again.';
  }
  if (!input.lengths.includes(input.dimensions))
    return 'Malformed input request: #/dimensions: is not a valid enum value';
  return { ...plainRequest, model, turns: input.texts.map((text) => ({ role: 'user', text })) };
}

function json({ body }: SimulatorCall, completion: SimulatedCompletion): object {
  if (isCanvas(body)) return canvasJson(body, completion);
  const { texts, dimensions } = inputOf(body as InvokeModelBody) as EmbeddingRequest;
  const vectors = texts.map((text) => vectorOf(text, dimensions));
  if ('inputText' in (body as InvokeModelBody)) {
    return { embedding: vectors[0], ...usageMember('inputTextTokenCount', completion, ({ input }) => input) };
  }
  if ('texts' in (body as InvokeModelBody))
    return { id: completion.id, embeddings: { float: vectors }, response_type: 'embeddings_by_type' };
  return {
    embeddings: [{ embeddingType: 'TEXT', embedding: vectors[0] }],
    ...usageMember('inputTokenCount', completion, ({ input }) => input),
  };
}

export const invokeModel: SimulatorFormat = {
  ...converse,
  refusals: [],
  name: 'invoke-model',
  path: /^\/model\/(?<model>.+)\/invoke$/,
  answerMembers: ['embedding', 'embeddings', 'images'],
  read,
  json,
  // The body of Cohere's answer has no count.
  headers: ({ usage }): Record<string, string> =>
    usage === undefined || typeof usage === 'string' ? {} : { 'x-amzn-bedrock-input-token-count': String(usage.input) },
  frames: () => [],
  errorFrames: () => [],
};

// Makes the images of Nova Canvas: from a text, or as a variation of images.

interface CanvasBody {
  readonly taskType: 'TEXT_IMAGE' | 'IMAGE_VARIATION';
  readonly textToImageParams?: { readonly text?: string };
  readonly imageVariationParams?: { readonly text?: string; readonly images?: readonly string[] };
  readonly imageGenerationConfig?: { readonly numberOfImages?: number; readonly quality?: string };
}

function readCanvas(model: string, body: CanvasBody): ModelRequest | string {
  const text = promptOf(body);
  const { numberOfImages = 1, quality = 'standard' } = body.imageGenerationConfig ?? {};
  const images = body.imageVariationParams?.images?.length ?? 1;
  const isGood =
    text !== '' &&
    text.length <= promptMaxCharacters &&
    numberOfImages <= imagesMax &&
    images >= 1 &&
    images <= imagesMax &&
    ['standard', 'premium'].includes(quality);
  if (!isGood) return 'Malformed input request, please reformat your input and try again.';
  return { ...plainRequest, model, choiceCount: numberOfImages, turns: [{ role: 'user', text }] };
}
