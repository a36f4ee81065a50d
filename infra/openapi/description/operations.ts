// The operations of the interface.
import { okStatus } from '../../../shared/errors/index.ts';
import { basePaths, rootPaths, routePaths } from '../../../shared/foundation/constants/index.ts';
import { codesOf, errorResponses, inPath, inQuery, jsonOperation } from './error-responses.ts';
import { createModeration, createSpeech, createTranscription, rerankDocuments } from './further-operations.ts';
import { parameters, responseHeaders } from './headers.ts';
import { objectSchema, schemaReference } from './json-schema.ts';
import { managePathItems, readMetrics } from './manage-operations.ts';
import {
  compactResponse,
  countInputTokens,
  countTokens,
  createEmbeddings,
  createImage,
  createImageEdit,
  createMessage,
  createResponse,
} from './relayed-operations.ts';
import { cancelResponse, deleteResponse, listInputItems, readResponse } from './stored-response-operations.ts';

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

const requestExamples = {
  plain: { summary: 'The cheapest model that can do it', value: { model: 'auto', ...hello } },
  stream: {
    summary: 'A stream with its cost at the end',
    value: { model: 'auto', ...hello, stream: true, usage: { include: true } },
  },
  private: {
    summary: 'Only providers that keep no data, the fastest first',
    value: { model: 'auto', ...hello, provider: { zdr: true, sort: 'latency' } },
  },
  function: {
    summary: 'A stored function',
    value: {
      model: 'gw/function/label-ticket',
      messages: [{ role: 'user', content: '{"ticket": "I cannot log in"}' }],
    },
  },
};

const streamExample = [
  'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"}}]}',
  'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
  'data: [DONE]',
  '',
].join('\n\n');

const eventStream = {
  schema: {
    type: 'string',
    description:
      'Server-sent events. Every `data` is a `ChatCompletionChunk`, or a `StreamError` where the stream broke, and the last is `[DONE]`; below `/openai/v1` a stream that broke ends with its `StreamError`.',
  },
  /** OpenAPI 3.1 has no word for the schema of one event. */
  'x-gw-event-data': {
    anyOf: [schemaReference('StreamError'), schemaReference('ChatCompletionChunk'), { const: '[DONE]' }],
  },
  example: streamExample,
};

const chatCompletion = {
  operationId: 'createChatCompletion',
  summary: 'A chat completion',
  description:
    'Checks, routes, prices and relays a standard chat completion. Providers are tried one after another until the first real output. A JSON answer has 55 seconds, and so has the first output of a stream, which then goes on for the stream budget of the gateway (55 seconds, or as many as the operator set).',
  parameters: parameters.chat,
  requestBody: {
    required: true,
    description: `At most 4 MiB; calls of stored functions at most 256 KiB.`,
    content: { 'application/json': { schema: schemaReference('ChatCompletionRequest'), examples: requestExamples } },
  },
  responses: {
    [okStatus]: {
      description: 'The answer: JSON, or events with `stream: true`.',
      headers: { ...responseHeaders.onEvery, ...responseHeaders.onAnswers },
      content: {
        'application/json': { schema: schemaReference('ChatCompletion') },
        'text/event-stream': eventStream,
      },
    },
    ...errorResponses(codesOf.chat),
  },
};

const listModels = jsonOperation({
  operationId: 'listModels',
  summary: 'The models of the workspace',
  description:
    'What the key can use: providers, prices, limits and figures of the last minutes. `auto` comes first. With `anthropic-version` in the form of Anthropic, and in pages.',
  parameters: [
    inQuery('functions', '`true`: the functions that the key can call come behind the models.', {
      type: 'string',
      enum: ['true'],
    }),
    inQuery('limit', 'With `anthropic-version`: so many at most.', { type: 'integer', minimum: 1, maximum: 1_000 }),
    inQuery('after_id', 'With `anthropic-version`: those that come behind it.', { type: 'string' }),
    inQuery('before_id', 'With `anthropic-version`: those that come just before it.', { type: 'string' }),
    ...parameters.models,
  ],
  says: 'The list.',
  answer: { anyOf: ['ModelList', 'AnthropicModelPage'].map(schemaReference) },
  codes: ['invalid_request', ...codesOf.models],
});

const readModel = jsonOperation({
  operationId: 'readModel',
  summary: 'One model of the workspace',
  description:
    'As in the list, with `anthropic-version` in the form of Anthropic; also `auto`, a bare name that only one id ends in, and a function under its alias.',
  parameters: [inPath('id', 'As in the list. Its slashes may stand as they are, or encoded.'), ...parameters.models],
  says: 'The model.',
  answer: { anyOf: ['AutoModel', 'Model', 'FunctionModel', 'AnthropicModel'].map(schemaReference) },
  codes: codesOf.model,
});

const readHealth = jsonOperation({
  operationId: 'readHealth',
  summary: 'Whether the process answers',
  description: 'Needs no key and asks no store.',
  security: [],
  says: 'It does.',
  answer: objectSchema({ status: { const: 'ok' } }),
  codes: codesOf.health,
});

const readKey = jsonOperation({
  operationId: 'readKey',
  summary: 'The key of the request',
  description: 'Its limits and what it has spent. Costs nothing; counts against its requests per minute.',
  parameters: parameters.account,
  says: 'The answer.',
  answer: schemaReference('KeyAnswer'),
  codes: codesOf.account,
});

const readCredits = jsonOperation({
  operationId: 'readCredits',
  summary: 'The credit of the workspace',
  description: 'All that was given, spent and can still be held. Costs nothing.',
  parameters: parameters.account,
  says: 'The answer.',
  answer: schemaReference('CreditsAnswer'),
  codes: codesOf.account,
});

const readGeneration = jsonOperation({
  operationId: 'readGeneration',
  summary: 'One call of the workspace',
  description:
    'What a call did and cost, provider call by provider call. Its record is written when it has ended, and kept for 90 days. Never a prompt or an answer.',
  parameters: [
    { ...inQuery('id', 'The `x-request-id` of the answer.', { type: 'string', format: 'uuid' }), required: true },
    ...parameters.account,
  ],
  says: 'The answer.',
  answer: schemaReference('GenerationAnswer'),
  codes: codesOf.generation,
});

/** Tools read each path by itself; this field groups those of one operation. */
const belowAll = { 'x-gw-base-urls': basePaths };
const belowFirst = { 'x-gw-base-urls': [basePaths[0]] };

const pathsBelowFirst = {
  [`/v1${routePaths.chatCompletions}`]: { ...belowAll, post: chatCompletion },
  [`/v1${routePaths.messages}`]: { ...belowFirst, post: createMessage },
  [`/v1${routePaths.countTokens}`]: { ...belowFirst, post: countTokens },
  [`/v1${routePaths.responses}`]: { ...belowAll, post: createResponse },
  [`/v1${routePaths.inputTokens}`]: { ...belowAll, post: countInputTokens },
  [`/v1${routePaths.compact}`]: { ...belowAll, post: compactResponse },
  [`/v1${routePaths.response.replace('*', '{id}')}`]: { ...belowAll, get: readResponse, delete: deleteResponse },
  [`/v1${routePaths.cancelResponse.replace('*', '{id}')}`]: { ...belowAll, post: cancelResponse },
  [`/v1${routePaths.inputItems.replace('*', '{id}')}`]: { ...belowAll, get: listInputItems },
  [`/v1${routePaths.embeddings}`]: { ...belowAll, post: createEmbeddings },
  [`/v1${routePaths.imageGenerations}`]: { ...belowAll, post: createImage },
  [`/v1${routePaths.imageEdits}`]: { ...belowAll, post: createImageEdit },
  [`/v1${routePaths.moderations}`]: { ...belowAll, post: createModeration },
  [`/v1${routePaths.rerank}`]: { ...belowAll, post: rerankDocuments },
  [`/v1${routePaths.speech}`]: { ...belowAll, post: createSpeech },
  [`/v1${routePaths.transcriptions}`]: { ...belowAll, post: createTranscription },
  [`/v1${routePaths.models}`]: { ...belowAll, get: listModels },
  [`/v1${routePaths.model.replace('**', '{id}')}`]: { ...belowAll, get: readModel },
  [`/v1${routePaths.key}`]: { ...belowFirst, get: readKey },
  [`/v1${routePaths.credits}`]: { ...belowFirst, get: readCredits },
  [`/v1${routePaths.generation}`]: { ...belowFirst, get: readGeneration },
  ...managePathItems(belowFirst),
  [rootPaths.health]: { get: readHealth },
  '/metrics': { get: readMetrics },
};

/** The same operations by reference: tools that read it list these paths too. */
const sameAs = (path: string) => ({ $ref: `#/paths/${encodeURI(path.replaceAll('/', '~1'))}` });

export const paths = {
  ...pathsBelowFirst,
  ...Object.fromEntries(
    Object.entries(pathsBelowFirst).flatMap(([path, item]) =>
      'x-gw-base-urls' in item && item['x-gw-base-urls'] === basePaths
        ? [[`${basePaths[1]}${path.slice(basePaths[0].length)}`, sameAs(path)]]
        : [],
    ),
  ),
};
