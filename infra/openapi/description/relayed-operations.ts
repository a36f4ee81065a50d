// The operations of interfaces whose bodies are their vendors' own: the fields that the gateway reads, and those it
// adds.
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { codesOf, errorResponses } from './error-responses.ts';
import { parameters, responseHeaders } from './headers.ts';
import { arrayOf, flag, type JsonSchema, objectSchema, text } from './json-schema.ts';
import { requestBodySchema } from './request-body.ts';

/** Codes of chat completions alone. */
const chatOnly: ReadonlySet<ErrorCode> = new Set([
  'preset_not_found',
  'invalid_response_schema',
  'schema_streaming_unsupported',
  'schema_validation_failed',
]);
const functionOnly =
  /^(function_|revision_|execution_|spend_limit|api_key_|qualification|invalid_function_(alias|contract))/;
const relayedCodes = codesOf.chat.filter(
  (code) => !chatOnly.has(code) && (code === 'api_key_rate_limit' || !functionOnly.test(code)),
);

/** As in the body of a chat completion. */
const chatMembers = requestBodySchema().properties as Readonly<Record<string, JsonSchema>>;
const chatMember = (name: string): JsonSchema => chatMembers[name] ?? {};

const gatewayMembers = {
  model: { ...text, description: 'An id of `GET /v1/models` whose `apis` names the interface.' },
  models: chatMember('models'),
  provider: chatMember('provider'),
  cache: chatMember('cache'),
};

export interface RelayedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Beside the gateway's fields. */
  readonly members: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly example: Readonly<Record<string, unknown>>;
  readonly answer: JsonSchema;
  /** In place of JSON. */
  readonly answerTypes?: Readonly<Record<string, JsonSchema>>;
  readonly streams: boolean;
  /** Its body may be a form, or must be one: with these files, `needed` by one of its names. */
  readonly form?: {
    readonly files: Readonly<Record<string, JsonSchema>>;
    readonly needed: readonly [string, ...string[]];
    readonly isOnly?: true;
  };
  /** Headers of requests that are the vendor's, and of its answers. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly answerHeaders?: Readonly<Record<string, string>>;
}

const headerParameters = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: text,
  }));

const describedHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, schema: text }]));

export function relayedOperation(operation: RelayedOperation) {
  const { operationId, summary, description, members, required, example, answer, streams, form } = operation;
  const properties = { ...gatewayMembers, ...members, ...(streams ? { stream: flag } : {}) };
  const bodyOf = (fields: Readonly<Record<string, JsonSchema>>, needed: readonly string[]) => ({
    schema: objectSchema(fields, { optional: Object.keys(fields).filter((name) => !needed.includes(name)) }),
  });
  const { files = {}, needed: [file = '', ...otherNames] = [], isOnly = false } = form ?? {};
  const examples = { plain: { summary, value: example } };
  const fields = { ...properties, ...files };
  const { schema } = bodyOf(fields, otherNames.length === 0 ? [...required, file] : required);
  const anyOf = [file, ...otherNames].map((name) => ({ required: [name] }));
  const ofForm = { schema: otherNames.length === 0 ? schema : { ...schema, anyOf } };
  return {
    operationId,
    summary,
    description: `${description} With routing, limits, credit, idempotency and cache of a chat completion. Other members reach a provider that speaks the interface as they were sent.`,
    parameters: [...parameters.chat, ...headerParameters(operation.requestHeaders ?? {})],
    requestBody: {
      required: true,
      description: form === undefined ? 'At most 4 MiB.' : 'At most 4 MiB; a form 25 MiB, on Lambda 4 MiB.',
      content: {
        ...(isOnly ? {} : { 'application/json': { ...bodyOf(properties, required), examples } }),
        ...(form && { 'multipart/form-data': isOnly ? { ...ofForm, examples } : ofForm }),
      },
    },
    responses: {
      [okStatus]: {
        description: `The answer of the provider${streams ? ': JSON, or events with `stream: true`' : ''}.`,
        headers: {
          ...responseHeaders.onEvery,
          ...responseHeaders.onAnswers,
          ...describedHeaders(operation.answerHeaders ?? {}),
        },
        content: operation.answerTypes
          ? Object.fromEntries(Object.entries(operation.answerTypes).map(([type, schema]) => [type, { schema }]))
          : {
              'application/json': { schema: answer },
              ...(streams ? { 'text/event-stream': { schema: text } } : {}),
            },
      },
      ...errorResponses(relayedCodes),
    },
  };
}

export const passedHeaders = { 'openai-beta': 'Reaches the provider.' };

const messagesHeaders = {
  [headerNames.apiKey]: 'The key, in place of `Authorization`.',
  'anthropic-version': 'Reaches the provider.',
  'anthropic-beta': 'Reaches the provider.',
  [headerNames.messagesSessionId]: 'The session, where no header of the gateway names it.',
};
export const costHeader = { [headerNames.cost]: 'What a JSON answer costs, in USD.' };
const messagesAnswerHeaders = { [headerNames.messagesRequestId]: 'As `x-request-id`.' };

export const createMessage = relayedOperation({
  operationId: 'createMessage',
  summary: 'A message',
  description:
    "Anthropic's Messages, translated for providers that do not speak it. Errors have its form, with our code in `error_code` and `error.details.error_code`.",
  members: {
    messages: arrayOf({ type: 'object' }),
    max_tokens: { type: 'integer', minimum: 0, description: 'What the worst case is counted from.' },
  },
  required: ['messages', 'max_tokens'],
  example: { model: 'acme/large-1', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] },
  answer: objectSchema({ type: { const: 'message' }, content: arrayOf({}), usage: { type: 'object' } }),
  streams: true,
  requestHeaders: messagesHeaders,
  answerHeaders: { ...messagesAnswerHeaders, ...costHeader },
});

export const countTokens = relayedOperation({
  operationId: 'countTokens',
  summary: 'The tokens of a message',
  description: 'Costs nothing, and needs no credit.',
  members: { messages: arrayOf({ type: 'object' }) },
  required: ['messages'],
  example: { model: 'acme/large-1', messages: [{ role: 'user', content: 'Hello' }] },
  answer: objectSchema({ input_tokens: { type: 'integer' } }),
  streams: false,
  requestHeaders: messagesHeaders,
  answerHeaders: messagesAnswerHeaders,
});

export const createResponse = relayedOperation({
  operationId: 'createResponse',
  summary: 'A response',
  description:
    "OpenAI's Responses, translated for providers that do not speak it. `previous_response_id`, `conversation` and `prompt` bind a call to the provider that made the response (unknown: to the first candidate); `background` is refused.",
  members: {
    input: { description: 'A text, or a list of items.' },
    max_output_tokens: { type: ['integer', 'null'], minimum: 1, description: 'What the worst case is counted from.' },
    store: { type: ['boolean', 'null'], description: 'A response that a provider keeps is not cached here.' },
  },
  required: [],
  example: { model: 'acme/large-1', input: 'Hello' },
  answer: objectSchema({
    object: { const: 'response' },
    output: arrayOf({}),
    usage: { type: 'object', description: 'With `cost` and `cost_usd`.' },
  }),
  streams: true,
  requestHeaders: {
    ...passedHeaders,
    [headerNames.responsesSessionId]: 'The session, where no header of the gateway names it.',
  },
});

/** A file of a form. */
export const binary: JsonSchema = { type: 'string', format: 'binary' };

const imageMembers = {
  prompt: { ...text, minLength: 1 },
  n: { type: ['integer', 'null'], minimum: 1, description: 'Images; each is reserved and charged.' },
  size: { type: ['string', 'null'], description: '`1024x1024`, or `auto`.' },
  quality: { type: ['string', 'null'] },
  background: { type: ['string', 'null'] },
  output_format: { type: ['string', 'null'] },
  response_format: { enum: ['url', 'b64_json', null] },
  stream: { ...flag, description: 'Events: partial images, and each image when it is complete.' },
  partial_images: { type: ['integer', 'null'], minimum: 0 },
};
const imagesAnswer = objectSchema({ data: arrayOf({}), usage: { type: 'object' } });

export const createImage = relayedOperation({
  operationId: 'createImage',
  summary: 'Images from a text',
  description:
    "OpenAI's images. At providers of the kinds `google`, `vertex` and `bedrock` translated: an option that their models lack is `feature_unsupported`, by name.",
  members: imageMembers,
  required: ['prompt'],
  example: { model: 'openai/gpt-image-2', prompt: 'A lighthouse at night', size: '1024x1024' },
  answer: imagesAnswer,
  streams: true,
  requestHeaders: passedHeaders,
  answerHeaders: costHeader,
});

export const createImageEdit = relayedOperation({
  operationId: 'createImageEdit',
  summary: 'Images from images and a text',
  description:
    'As a form (multipart/form-data): `image` or `image[]` are files, fields of the gateway are JSON, or written as `provider[only][]`. In JSON images are references in `images`.',
  members: { ...imageMembers, images: arrayOf({}) },
  required: ['prompt'],
  example: { model: 'openai/gpt-image-2', prompt: 'Make it night', images: [{ file_id: 'file-1' }] },
  form: { files: { image: binary, 'image[]': arrayOf(binary), mask: binary }, needed: ['image', 'image[]'] },
  answer: imagesAnswer,
  streams: true,
  requestHeaders: passedHeaders,
  answerHeaders: costHeader,
});

const answeringModel = { input: { description: 'A text, or a list of items.' } };

export const countInputTokens = relayedOperation({
  operationId: 'countInputTokens',
  summary: 'The tokens of the input of a response',
  description:
    'Costs nothing, and needs no credit. Estimated where the provider of the model does not speak Responses.',
  members: answeringModel,
  required: [],
  example: { model: 'acme/large-1', input: 'Hello' },
  answer: objectSchema({ object: { const: 'response.input_tokens' }, input_tokens: { type: 'integer' } }),
  streams: false,
  requestHeaders: passedHeaders,
});

export const compactResponse = relayedOperation({
  operationId: 'compactResponse',
  summary: 'A shorter form of a conversation',
  description:
    'A call of the model: its output is the input of later responses. The most that is reserved for it is the output bound of the model. Only where a provider speaks Responses.',
  members: answeringModel,
  required: [],
  example: { model: 'acme/large-1', input: 'Hello' },
  answer: objectSchema({
    object: { const: 'response.compaction' },
    output: arrayOf({}),
    usage: { type: 'object', description: 'With `cost` and `cost_usd`.' },
  }),
  streams: false,
  requestHeaders: passedHeaders,
});

export const createEmbeddings = relayedOperation({
  operationId: 'createEmbeddings',
  summary: 'Embeddings',
  description:
    'Vectors of texts: at most 2,048 inputs. Only the input costs. Translated for models of Bedrock, Gemini and Vertex, which take texts alone, `dimensions` where the model has them, and of Cohere `input_type` (`search_document` if left out).',
  members: { input: { description: 'A text, a list of texts, a list of tokens, or a list of such lists.' } },
  required: ['input'],
  example: { model: 'acme/embed-1', input: ['Hello', 'World'] },
  answer: objectSchema({
    data: arrayOf({}),
    usage: { type: 'object', description: 'With `cost` and `cost_usd`.' },
  }),
  streams: false,
  requestHeaders: passedHeaders,
});
