// Describes the operations of the interface.

import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import {
  basePaths,
  bedrockPaths,
  headerNames,
  rootPaths,
  routePaths,
} from '../../../shared/foundation/constants/index.ts';
import {
  arrayOf,
  type DescribedBody,
  flag,
  type InterfaceOperation,
  type JsonSchema,
  objectSchema,
  schemaReference,
  text,
  type VendorBody,
} from '../../../shared/protocol/description/index.ts';
import { interfaceList, type ListedRoute } from '../../../shared/protocol/interface-list/index.ts';
import { codesOf, errorResponses, inPath, inQuery, jsonOperation } from './error-responses.ts';
import { parameters, responseHeaders } from './headers.ts';
import { managePathItems, readMetrics } from './manage-operations.ts';
import { requestBodySchema } from './request-body.ts';

/** Codes that only chat completions answer with. */
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

/** Fields of the body of a chat completion. */
const chatMembers = requestBodySchema().properties as Readonly<Record<string, JsonSchema>>;
const chatMember = (name: string): JsonSchema => chatMembers[name] ?? {};

const gatewayMembers = {
  model: { ...text, description: 'An id of `GET /v1/models` whose `apis` names the interface.' },
  models: chatMember('models'),
  provider: chatMember('provider'),
  cache: chatMember('cache'),
};

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

const operationOf = (operation: InterfaceOperation, place: OperationPlace) =>
  operation.body.kind === 'vendor'
    ? vendorOperation(operation, operation.body, place)
    : describedOperation(operation, operation.body);

// Describes the operations on a response that a provider stores.

const shared = {
  parameters: [
    inPath('id', 'Of a response that this workspace has made within 30 days.'),
    {
      ...{ name: headerNames.byokKey, in: 'header', required: false, schema: text },
      description: 'The key of your own with which the response was made, where that was so.',
    },
    ...parameters.account,
  ],
  says: 'The answer of the provider.',
  codes: codesOf.storedResponse,
};
const costs = 'Asked of the account that keeps it. Costs nothing; counts against the requests per minute of the key.';
const response = objectSchema({ id: text, object: { const: 'response' } });
const passed = 'Reaches the provider, as any other name of the query.';

const readResponse = jsonOperation({
  ...shared,
  operationId: 'readResponse',
  summary: 'A response, or its events again',
  description: `${costs} With \`stream=true\` server-sent events, byte for byte.`,
  parameters: [
    inQuery('stream', '`true`: as events.', flag),
    inQuery('starting_after', 'With `stream`: the number of the last event that is not wanted.', { type: 'integer' }),
    inQuery('include', passed),
    ...shared.parameters,
  ],
  answer: response,
});

const deleteResponse = jsonOperation({
  ...shared,
  operationId: 'deleteResponse',
  summary: 'Delete a response',
  description: costs,
  answer: objectSchema({ id: text, deleted: { const: true } }),
});

const cancelResponse = jsonOperation({
  ...shared,
  operationId: 'cancelResponse',
  summary: 'Cancel a response',
  description: `${costs} Providers refuse to cancel one that does not run in the background, and through the gateway none does.`,
  answer: response,
});

const listInputItems = jsonOperation({
  ...shared,
  operationId: 'listInputItems',
  summary: 'The input of a response',
  description: costs,
  parameters: [...['after', 'limit', 'order', 'include'].map((name) => inQuery(name, passed)), ...shared.parameters],
  answer: objectSchema({ object: { const: 'list' }, data: arrayOf({}) }),
});

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

const listProfiles = jsonOperation({
  operationId: 'listInferenceProfiles',
  summary: 'The models of the key as inference profiles of Amazon Bedrock',
  description: 'The id of a model is the id of a profile. Costs nothing.',
  parameters: [
    inQuery('maxResults', 'The most of one page.', { type: 'integer', minimum: 1, maximum: 1_000 }),
    inQuery('nextToken', 'Of the page before.', { type: 'string' }),
    ...parameters.account,
  ],
  says: 'The answer.',
  answer: { type: 'object', properties: { inferenceProfileSummaries: { type: 'array', items: { type: 'object' } } } },
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

/** Tools read each path by itself; this field groups the paths of one operation. */
const belowAll = { 'x-gw-base-urls': basePaths };
const belowFirst = { 'x-gw-base-urls': [basePaths[0]] };

/** Returns the same operations by reference, so that tools that resolve references list these paths too. */
const sameAs = (path: string) => ({ $ref: `#/paths/${encodeURI(path.replaceAll('/', '~1'))}` });

const pathOf = ({ base, path }: ListedRoute): string =>
  (base === 'all' ? basePaths[0] : base) + path.replace(/\*+/, '{model}');

const interfacePaths: readonly (readonly [string, object])[] = await Promise.all(
  Object.values(interfaceList).flatMap(({ routes, load }) =>
    routes.map(async (route) => {
      const first = routes.find(({ operation }) => operation === route.operation) ?? route;
      if (first !== route) return [pathOf(route), sameAs(pathOf(first))] as const;
      const below = route.base === 'all' ? belowAll : { 'x-gw-base-urls': [route.base] };
      const { operation } = await load();
      const namesModel = route.operation !== undefined;
      return [
        pathOf(route),
        { ...below, post: operationOf(await operation(route.operation), { namesModel }) },
      ] as const;
    }),
  ),
);

const pathsBelowFirst = {
  ...Object.fromEntries(interfacePaths),
  [`/v1${routePaths.response.replace('*', '{id}')}`]: { ...belowAll, get: readResponse, delete: deleteResponse },
  [`/v1${routePaths.cancelResponse.replace('*', '{id}')}`]: { ...belowAll, post: cancelResponse },
  [`/v1${routePaths.inputItems.replace('*', '{id}')}`]: { ...belowAll, get: listInputItems },
  [`/v1${routePaths.models}`]: { ...belowAll, get: listModels },
  [`/v1${routePaths.model.replace('**', '{id}')}`]: { ...belowAll, get: readModel },
  [`/bedrock${bedrockPaths.inferenceProfiles}`]: { 'x-gw-base-urls': ['/bedrock'], get: listProfiles },
  [`/v1${routePaths.key}`]: { ...belowFirst, get: readKey },
  [`/v1${routePaths.credits}`]: { ...belowFirst, get: readCredits },
  [`/v1${routePaths.generation}`]: { ...belowFirst, get: readGeneration },
  ...managePathItems(belowFirst),
  [rootPaths.health]: { get: readHealth },
  '/metrics': { get: readMetrics },
};

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

// Describes the operations of the clients' interfaces, from the description that each interface has.

/** The paths at which an interface is called. */
interface OperationPlace {
  /** Whether the path names the model. */
  readonly namesModel: boolean;
}

function describedOperation({ operationId, summary, description }: InterfaceOperation, body: DescribedBody) {
  const { bounds, schema, examples, answers } = body;
  return {
    operationId,
    summary,
    description,
    parameters: parameters.chat,
    requestBody: { required: true, description: bounds, content: { 'application/json': { schema, examples } } },
    responses: {
      [okStatus]: {
        description: 'The answer: JSON, or events with `stream: true`.',
        headers: { ...responseHeaders.onEvery, ...responseHeaders.onAnswers },
        content: answers,
      },
      ...errorResponses(codesOf.chat),
    },
  };
}

function vendorOperation(operation: InterfaceOperation, body: VendorBody, { namesModel }: OperationPlace) {
  const { operationId, summary, description } = operation;
  const { members, required, example, answer, streams, form } = body;
  const { model, ...others } = gatewayMembers;
  const gatewayFields = namesModel ? others : { model, ...others };
  const asksInBody = streams && !namesModel;
  const properties = { ...gatewayFields, ...members, ...(asksInBody ? { stream: flag } : {}) };
  const bodyOf = (fields: Readonly<Record<string, JsonSchema>>, needed: readonly string[]) => ({
    schema: objectSchema(fields, { optional: Object.keys(fields).filter((name) => !needed.includes(name)) }),
  });
  const { files = {}, needed: [file = '', ...otherNames] = [], isOnly = false } = form ?? {};
  const examples = { plain: { summary, value: example } };
  const fields = { ...properties, ...files };
  const { schema } = bodyOf(fields, otherNames.length === 0 ? [...required, file] : required);
  const anyOf = [file, ...otherNames].map((name) => ({ required: [name] }));
  const formMedia = { schema: otherNames.length === 0 ? schema : { ...schema, anyOf } };
  return {
    operationId,
    summary,
    description: `${description} With routing, limits, credit, idempotency and cache of a chat completion. Other members reach a provider that speaks the interface as they were sent.`,
    parameters: [
      ...(namesModel
        ? [inPath('model', 'An id of the list of models. Its slashes may stand as they are, or encoded.')]
        : []),
      ...parameters.chat,
      ...headerParameters(operation.requestHeaders ?? {}),
    ],
    requestBody: {
      required: true,
      description: form === undefined ? 'At most 4 MiB.' : 'At most 4 MiB; a form 25 MiB, on Lambda 4 MiB.',
      content: {
        ...(isOnly ? {} : { 'application/json': { ...bodyOf(properties, required), examples } }),
        ...(form && { 'multipart/form-data': isOnly ? { ...formMedia, examples } : formMedia }),
      },
    },
    responses: {
      [okStatus]: {
        description: `The answer of the provider${asksInBody ? ': JSON, or events with `stream: true`' : ''}.`,
        headers: {
          ...responseHeaders.onEvery,
          ...responseHeaders.onAnswers,
          ...describedHeaders(operation.answerHeaders ?? {}),
        },
        content: body.answerTypes
          ? Object.fromEntries(Object.entries(body.answerTypes).map(([type, schema]) => [type, { schema }]))
          : {
              'application/json': { schema: answer },
              ...(streams ? { 'text/event-stream': { schema: text } } : {}),
            },
      },
      ...errorResponses(relayedCodes),
    },
  };
}
