// The operations of the interface.
import { basePaths, bedrockPaths, rootPaths, routePaths } from '../../../shared/foundation/constants/index.ts';
import { objectSchema, schemaReference } from '../../../shared/protocol/description/index.ts';
import { interfaceList, type ListedRoute } from '../../../shared/protocol/interface-list/index.ts';
import { codesOf, inPath, inQuery, jsonOperation } from './error-responses.ts';
import { parameters } from './headers.ts';
import { operationOf } from './interface-operations.ts';
import { managePathItems, readMetrics } from './manage-operations.ts';
import { cancelResponse, deleteResponse, listInputItems, readResponse } from './stored-response-operations.ts';

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

/** Tools read each path by itself; this field groups those of one operation. */
const belowAll = { 'x-gw-base-urls': basePaths };
const belowFirst = { 'x-gw-base-urls': [basePaths[0]] };

/** The same operations by reference: tools that read it list these paths too. */
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
