// Implements OpenAI's Moderations. A text is flagged for the categories whose words it contains.
import type { SimulatedCompletion } from '../answer.ts';
import type { Received, SimulatorCall } from '../call.ts';
import { type ModelRequest, plainRequest } from '../model-request.ts';
import { wholeFormat } from './openai-whole.ts';

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };
interface ModerationsBody {
  readonly model?: string;
  readonly input: string | readonly string[] | readonly Part[];
}

const categories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const;

const flaggedScore = 0.97;
const cleanScore = 0.001;

function read({ body }: Received): ModelRequest | string {
  const { model = 'omni-moderation-latest', input } = (body ?? {}) as ModerationsBody;
  const inputs = inputsOf(input);
  if (inputs === undefined || inputs.length === 0) return "'$.input' is invalid.";
  return { ...plainRequest, model, turns: inputs.map(({ text }) => ({ role: 'user', text })) };
}

interface Judged {
  readonly text: string;
  readonly hasImage: boolean;
}

/** Returns the inputs. Each text is judged by itself, and all parts are judged together. */
function inputsOf(input: unknown): readonly Judged[] | undefined {
  if (typeof input === 'string') return [{ text: input, hasImage: false }];
  if (!Array.isArray(input)) return undefined;
  if (input.every((item) => typeof item === 'string')) return input.map((text) => ({ text, hasImage: false }));
  const parts = input as readonly Part[];
  if (!parts.every((part) => part?.type === 'text' || part?.type === 'image_url')) return undefined;
  const texts = parts.map((part) => (part.type === 'text' ? part.text : ''));
  return [{ text: texts.join(' '), hasImage: parts.some(({ type }) => type === 'image_url') }];
}

function json({ body }: SimulatorCall, completion: SimulatedCompletion): object {
  const judged = inputsOf((body as ModerationsBody).input) ?? [];
  return { id: completion.id, model: completion.model, results: judged.map(resultOf) };
}

function resultOf({ text, hasImage }: Judged): object {
  const words = text.toLowerCase();
  const isFlagged = (category: string) => words.includes(category);
  const each = (scoreOf: (category: string) => unknown) =>
    Object.fromEntries(categories.map((category) => [category, scoreOf(category)]));
  return {
    flagged: categories.some(isFlagged),
    categories: each(isFlagged),
    category_scores: each((category) => (isFlagged(category) ? flaggedScore : cleanScore)),
    category_applied_input_types: each(() => (hasImage ? ['text', 'image'] : ['text'])),
  };
}

export const moderations = wholeFormat({
  name: 'moderations',
  path: /^\/moderations$/,
  idPrefix: 'modr-',
  answerMembers: ['results'],
  read,
  json,
});
