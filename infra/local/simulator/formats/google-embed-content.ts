// Implements Gemini's embedContent and batchEmbedContents.
import { type SimulatedCompletion, usageMember } from '../answer.ts';
import type { Received, SimulatorCall, SimulatorFormat } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { generateContent } from './google-generate-content.ts';
import { vectorOf } from './openai-embeddings.ts';

interface EmbedContent {
  readonly model: string;
  readonly content: { readonly parts: readonly { readonly text: string }[] };
  readonly outputDimensionality?: number;
}
/** Vertex has settings in a field of their own, and the model only in the path. */
type VertexEmbedContent = Pick<EmbedContent, 'content'> & {
  readonly embedContentConfig: Pick<EmbedContent, 'outputDimensionality'>;
};
type EmbedContentBody = EmbedContent | VertexEmbedContent | { readonly requests: readonly EmbedContent[] };

const requestsMax = 100;
const dimensionsMax = 3_072;

function requestsOf(body: EmbedContentBody, model: string): readonly EmbedContent[] {
  if ('requests' in body) return body.requests;
  return 'embedContentConfig' in body ? [{ ...body, ...body.embedContentConfig, model: `models/${model}` }] : [body];
}
const textOf = ({ content }: EmbedContent): string => content.parts.map(({ text }) => text).join('\n');

function read({ body, fromPath: { model = '' } }: Received): ModelRequest | string {
  const requests = requestsOf((body ?? {}) as EmbedContentBody, model);
  if (requests.some((request) => !Array.isArray(request.content?.parts) || textOf(request) === '')) {
    return 'EmbedContentRequest.content contains an empty Part.';
  }
  if (requests.length > requestsMax) return `at most ${requestsMax} requests can be in one batch`;
  if (requests.some((request) => request.model !== `models/${model}`))
    return 'the model of a request must match the URL';
  if (
    requests.some(
      ({ outputDimensionality = 1 }) => !(outputDimensionality >= 1 && outputDimensionality <= dimensionsMax),
    )
  ) {
    return 'output_dimensionality is out of range';
  }
  return { ...plainRequest, model, turns: requests.map((request) => ({ role: 'user', text: textOf(request) })) };
}

/** A shortened vector does not have the length 1. */
const valuesOf = (request: EmbedContent) => ({
  values: vectorOf(textOf(request), dimensionsMax).slice(0, request.outputDimensionality),
});

/** Only newer models report their usage. */
function json({ body }: SimulatorCall, completion: SimulatedCompletion): object {
  const usage = /embedding-2/.test(completion.model)
    ? usageMember('usageMetadata', completion, ({ input }) => ({ promptTokenCount: input }))
    : {};
  const values = requestsOf(body as EmbedContentBody, completion.model).map(valuesOf);
  return 'requests' in (body as EmbedContentBody)
    ? { embeddings: values, ...usage }
    : { embedding: values[0], ...usage };
}

export const embedContent: SimulatorFormat = {
  ...generateContent,
  refusals: [],
  name: 'embed-content',
  path: /^\/models\/(?<model>.+):(?<method>embedContent|batchEmbedContents)$/,
  answerMembers: ['embedding', 'embeddings'],
  read,
  json,
  frames: () => [],
  errorFrames: () => [],
};
