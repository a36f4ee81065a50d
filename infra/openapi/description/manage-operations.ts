// Describes the operations of the management interface from its table. The operator function serves them, if the stage
// has one.
import { callDocumentSchemas } from '../../../shared/accounting/call-records/index.ts';
import {
  type DocumentName,
  documents,
  jsonSchemaOf,
  type ManagementRoute,
  managementRoutes,
  namesIn,
  routeNames,
} from '../../../shared/configuration/management/index.ts';
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import { arrayOf, type JsonSchema, objectSchema, schemaReference } from '../../../shared/protocol/description/index.ts';
import { codesOf, errorResponses, inPath, inQuery, jsonOperation } from './error-responses.ts';
import { parameters as headerParameters, responseHeaders } from './headers.ts';

const readCodes: readonly ErrorCode[] = ['invalid_request', 'forbidden', ...codesOf.models];
const changeCodes: readonly ErrorCode[] = [
  ...readCodes,
  'request_too_large',
  'PAYMENT_REQUIRED',
  'idempotency_conflict',
];
const fileCodes: readonly ErrorCode[] = [...changeCodes, 'precondition_failed'];

/** The gateway file as text. */
const yaml = { 'application/yaml': { schema: { type: 'string' } } };
const etag = {
  etag: { description: 'Names what is stored: each change of it changes this.', schema: { type: 'string' } },
};
const ifMatch = {
  ...inQuery('if-match', 'The `ETag` of what was read. Required, unless it is a dry run.'),
  in: 'header',
};

function operationOf(name: (typeof routeNames)[number]) {
  const route: ManagementRoute = managementRoutes[name];
  const { operation, summary, body, answer } = route;
  const [takesFile, isFile] = [body === 'gateway file', answer === 'gateway file'];
  const codes = name.startsWith('GET ') ? readCodes : takesFile ? fileCodes : changeCodes;
  const described = jsonOperation({
    operationId: operation,
    summary,
    security: [{ operatorKey: [] }],
    parameters: [...parametersOf(name, route), ...(takesFile ? [ifMatch] : []), ...headerParameters.account],
    ...(body === undefined ? {} : { requestBody: requestBodyOf(body) }),
    says: summary,
    answer: answerSchema(answer),
    codes,
  });
  return takesFile || isFile ? withEtag(described, isFile ? yaml : {}) : described;
}

/** Description of each name in a path. */
const inPaths: Readonly<Record<string, string>> = {
  calls: 'The `x-request-id` of the answer.',
  providers: 'The provider.',
  workspaces: 'The workspace.',
  functions: 'The function.',
  public_id: 'Of the key.',
  workspace: 'The workspace.',
};

const parametersOf = (name: string, { query }: ManagementRoute): object[] => [
  ...namesIn(name).map((one) => inPath(one, inPaths[one] ?? inPaths[name.split('/')[1] ?? ''] ?? '')),
  ...Object.entries((query && jsonSchemaOf(query).properties) ?? {}).map(([one, { description, ...schema }]) =>
    inQuery(one, description, schema.type === 'integer' ? { ...schema, default: Number(schema.default) } : schema),
  ),
];

const requestBodyOf = (body: NonNullable<ManagementRoute['body']>) =>
  body === 'gateway file'
    ? { required: true, description: 'The gateway file: at most 4 MiB.', content: yaml }
    : { required: true, content: { 'application/json': { schema: jsonSchemaOf(body) } } };

function answerSchema(answer: ManagementRoute['answer']): JsonSchema {
  if (answer === 'gateway file') return objectSchema({ data: { type: 'object' } });
  if ('one' in answer) return objectSchema({ data: schemaReference(answer.one) });
  return objectSchema({ data: arrayOf(schemaReference(answer.list)), next_cursor: { type: ['string', 'null'] } });
}

function withEtag(described: ReturnType<typeof jsonOperation>, moreContent: object) {
  const { [okStatus]: answer, ...errors } = described.responses as Record<string, { headers: object; content: object }>;
  const content = { ...answer?.content, ...moreContent };
  return {
    ...described,
    responses: { [okStatus]: { ...answer, headers: { ...answer?.headers, ...etag }, content }, ...errors },
  };
}

export function managePathItems(more: object): Readonly<Record<string, object>> {
  const items: Record<string, Record<string, object>> = {};
  for (const name of routeNames) {
    const [method = '', path = ''] = name.split(' ');
    const described = `/v1/manage${path}`;
    items[described] = { ...more, ...items[described], [method.toLowerCase()]: operationOf(name) };
  }
  return items;
}

/** An operation that is served by a local gateway, and by tasks with the management interface. */
export const readMetrics = {
  operationId: 'readMetrics',
  summary: 'Counts of calls in the text form of Prometheus',
  description:
    'Of a local gateway or a task, which counts its own calls: by outcome, code, provider and model, their tokens, cost and times. The operator may read every workspace.',
  security: [{ operatorKey: [] }],
  responses: {
    [okStatus]: {
      description: 'The metrics.',
      headers: responseHeaders.onEvery,
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
    ...errorResponses(readCodes),
  },
};

/** Returns the schemas that operations refer to. */
export const manageSchemas = (): Readonly<Record<DocumentName, JsonSchema>> => ({
  ...(Object.fromEntries(Object.entries(documents).map(([name, schema]) => [name, jsonSchemaOf(schema)])) as Record<
    keyof typeof documents,
    JsonSchema
  >),
  ManagedCall: objectSchema({ ...callDocumentSchemas(), note: { type: ['string', 'null'] } }),
});
