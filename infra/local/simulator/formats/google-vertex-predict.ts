// Implements Vertex AI's predict, for embeddings.
import type { Received, SimulatorCall, SimulatorFormat } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { countTokens } from '../tokens.ts';
import { embedContent } from './google-embed-content.ts';
import { vectorOf } from './openai-embeddings.ts';

interface Predict {
  readonly instances: readonly { readonly content: string }[];
  readonly parameters?: { readonly outputDimensionality?: number; readonly autoTruncate?: boolean };
}

const dimensionsMax = 3_072;

/** Maximum number of inputs; Gemini's models accept one input at a time. */
const instancesMax = (model: string): number => (model.startsWith('gemini') ? 1 : 250);

function read({ body, fromPath: { model = '' } }: Received): ModelRequest | string {
  const { instances = [], parameters = {} } = (body ?? {}) as Partial<Predict>;
  if (instances.length === 0 || instances.some(({ content }) => typeof content !== 'string' || content === ''))
    return 'The text content is empty.';
  if (instances.length > instancesMax(model)) return `at most ${instancesMax(model)} instances are allowed`;
  const { outputDimensionality: dimensions = 1 } = parameters;
  if (!(dimensions >= 1 && dimensions <= dimensionsMax)) return 'outputDimensionality is out of range';
  return { ...plainRequest, model, turns: instances.map(({ content: text }) => ({ role: 'user', text })) };
}

/** A shortened vector does not have the length 1. */
function json({ body }: SimulatorCall): object {
  const { instances, parameters = {} } = body as Predict;
  const { outputDimensionality } = parameters;
  const predictions = instances.map(({ content }) => ({
    embeddings: {
      values: vectorOf(content, dimensionsMax).slice(0, outputDimensionality),
      statistics: { token_count: countTokens(content), truncated: false },
    },
  }));
  return { predictions };
}

export const predict: SimulatorFormat = {
  ...embedContent,
  name: 'predict',
  path: /^\/models\/(?<model>.+):predict$/,
  answerMembers: ['predictions'],
  read,
  json,
};
