import { headerNames } from '../../../foundation/constants/index.ts';
import { arrayOf, costHeader, type InterfaceOperation, objectSchema } from '../../description/index.ts';

const googleHeaders = { [headerNames.googleApiKey]: 'The key, in place of `Authorization`. Never `?key=`.' };
const hello = { parts: [{ text: 'Hello' }] };
const contents = arrayOf({ type: 'object' });

const generated = objectSchema({
  candidates: arrayOf({}),
  usageMetadata: { type: 'object', description: 'Of JSON answers with `cost_usd`.' },
});

const generate: InterfaceOperation = {
  operationId: 'generateContent',
  summary: 'An answer of Gemini’s interface',
  description:
    "Google's Gemini, translated for providers that do not speak it. Fields are read in both spellings. Errors have Google's form, with our code in the `ErrorInfo` of `details`.",
  body: {
    kind: 'vendor',
    members: {
      contents,
      systemInstruction: { type: 'object' },
      tools: arrayOf({ type: 'object' }),
      generationConfig: { type: 'object', description: '`maxOutputTokens` is what the worst case is counted from.' },
    },
    required: ['contents'],
    example: { contents: [{ role: 'user', ...hello }] },
    answer: generated,
    streams: false,
  },
  requestHeaders: googleHeaders,
  answerHeaders: costHeader,
};

const streamed: InterfaceOperation = {
  ...generate,
  operationId: 'streamGenerateContent',
  summary: 'The same as a stream',
  description: `${generate.description} With \`?alt=sse\` as events, else as one JSON array that grows.`,
  body: {
    ...generate.body,
    answerTypes: { 'text/event-stream': { type: 'string' }, 'application/json': arrayOf(generated) },
  } as InterfaceOperation['body'],
};

export const generateOperation = (of: string | undefined): InterfaceOperation =>
  of === 'streamGenerateContent' ? streamed : generate;

export const countOperation: InterfaceOperation = {
  operationId: 'countContents',
  summary: 'The tokens of contents',
  description: 'Costs nothing, and needs no credit. `generateContentRequest` may hold the fields.',
  body: {
    kind: 'vendor',
    members: { contents },
    required: ['contents'],
    example: { contents: [{ role: 'user', ...hello }] },
    answer: objectSchema({ totalTokens: { type: 'integer' } }),
    streams: false,
  },
  requestHeaders: googleHeaders,
};

const embed: InterfaceOperation = {
  operationId: 'embedContent',
  summary: 'A vector, in Google’s words',
  description:
    'As `/v1/embeddings`, on every model that has those. `taskType` and `title` reach the models of Google, and are left out for others.',
  body: {
    kind: 'vendor',
    members: { content: { type: 'object' }, outputDimensionality: { type: 'integer', minimum: 1 } },
    required: ['content'],
    example: { content: hello },
    answer: objectSchema({ embedding: { type: 'object' }, usageMetadata: { type: 'object' } }),
    streams: false,
  },
  requestHeaders: googleHeaders,
  answerHeaders: costHeader,
};

const embedMany: InterfaceOperation = {
  ...embed,
  operationId: 'batchEmbedContents',
  summary: 'Several vectors, in Google’s words',
  body: {
    kind: 'vendor',
    members: { requests: arrayOf({ type: 'object' }) },
    required: ['requests'],
    example: { requests: [{ content: hello }] },
    answer: objectSchema({ embeddings: arrayOf({}), usageMetadata: { type: 'object' } }),
    streams: false,
  },
};

export const embedOperation = (of: string | undefined): InterfaceOperation =>
  of === 'batchEmbedContents' ? embedMany : embed;
