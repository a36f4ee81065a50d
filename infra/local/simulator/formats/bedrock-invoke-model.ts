// Bedrock's InvokeModel: embeddings in the forms of Titan, Cohere and Nova, and the images of Nova Canvas, by the body.
import { type SimulatedCompletion, usageMember } from '../answer.ts';
import type { Received, SimulatorCall, SimulatorFormat } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { converse } from './bedrock-converse.ts';
import { canvasJson, isCanvas, readCanvas } from './nova-canvas.ts';
import { vectorOf } from './openai-embeddings.ts';

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
  // The body of an answer of Cohere's has no count.
  headers: ({ usage }): Record<string, string> =>
    usage === undefined || typeof usage === 'string' ? {} : { 'x-amzn-bedrock-input-token-count': String(usage.input) },
  frames: () => [],
  errorFrames: () => [],
};
