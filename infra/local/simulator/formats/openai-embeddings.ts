// Implements OpenAI's Embeddings. A vector counts the words of its text, so that texts with the same words are near
// each other.
import { type SimulatedCompletion, type TokenCounts, usageMember } from '../answer.ts';
import type { Received, SimulatorCall } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { tokensOf } from '../tokens.ts';
import { wholeFormat } from './openai-whole.ts';

interface EmbeddingsBody {
  readonly model: string;
  /** Texts, or the numbers of their tokens. */
  readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  readonly encoding_format?: 'float' | 'base64' | null;
  readonly dimensions?: number | null;
}

/** The dimensions are so many that words rarely coincide by chance, and so few that tests can have many inputs. */
const dimensionsDefault = 256;
const dimensionsMax = 4_096;
const inputsMax = 2_048;

function read({ body: json }: Received): ModelRequest | string {
  if (json === undefined) return 'We could not parse the JSON body of your request.';
  const { model, input, dimensions } = (json ?? {}) as EmbeddingsBody;
  if (typeof model !== 'string' || model === '') return 'you must provide a model parameter';
  const texts = textsOf(input);
  if (texts === undefined || texts.length === 0 || texts.includes('')) return "'$.input' is invalid.";
  if (texts.length > inputsMax) return `'$.input' is too long. Please use an array of at most ${inputsMax} inputs.`;
  const isSize = (value: number) => Number.isInteger(value) && value >= 1 && value <= dimensionsMax;
  if (typeof dimensions === 'number' && !isSize(dimensions)) return "'$.dimensions' is invalid.";
  return { ...plainRequest, model, turns: texts.map((text) => ({ role: 'user', text })) };
}

const isListOf = (kind: 'string' | 'number', value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === kind);

/** Returns the texts; a token's number is used as its word. Returns undefined without input. */
function textsOf(input: unknown): readonly string[] | undefined {
  if (typeof input === 'string') return [input];
  if (isListOf('string', input)) return input as string[];
  if (isListOf('number', input)) return [(input as number[]).join(' ')];
  const isLists = Array.isArray(input) && input.every((item) => isListOf('number', item));
  return isLists ? (input as number[][]).map((tokens) => tokens.join(' ')) : undefined;
}

export function vectorOf(text: string, dimensions: number): readonly number[] {
  const counts = new Float32Array(dimensions);
  for (const token of tokensOf(text.toLowerCase())) {
    const position = hashOf(token.trim()) % dimensions;
    counts[position] = (counts[position] ?? 0) + 1;
  }
  const length = Math.hypot(...counts);
  return [...counts].map((count) => Math.fround(count / length));
}

/** Returns the FNV-1a hash. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

const base64Of = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString('base64');

function json({ body }: SimulatorCall, completion: SimulatedCompletion): object {
  const { input, dimensions, encoding_format: encoding } = body as EmbeddingsBody;
  return {
    object: 'list',
    data: textsOf(input)?.map((text, index) => {
      const vector = vectorOf(text, dimensions ?? dimensionsDefault);
      return { object: 'embedding', index, embedding: encoding === 'base64' ? base64Of(vector) : vector };
    }),
    model: completion.model,
    ...usageMember('usage', completion, usageJson),
  };
}

const usageJson = ({ input }: TokenCounts) => ({ prompt_tokens: input, total_tokens: input });

export const embeddings = wholeFormat({
  name: 'embeddings',
  path: /^\/embeddings$/,
  answerMembers: ['data'],
  read,
  json,
});
