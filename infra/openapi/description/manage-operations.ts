// The management interface, which the operator function serves where there is one.

import {
  activationSchema,
  caseAnswersSchema,
  creditSchema,
  jsonSchemaOf,
  keyChangesSchema,
  listUpdateSchema,
  newKeySchema,
  newWorkspaceSchema,
  publicationSchema,
  rotationSchema,
  workspaceChangesSchema,
} from '../../../shared/configuration/administration/index.ts';
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import { interfaceIds, managePaths } from '../../../shared/foundation/constants/index.ts';
import { codesOf, inPath, inQuery, jsonOperation } from './error-responses.ts';
import { parameters as headerParameters } from './headers.ts';
import { arrayOf, type JsonSchema, objectSchema, schemaReference } from './json-schema.ts';

const readCodes: readonly ErrorCode[] = ['invalid_request', 'forbidden', ...codesOf.models];
const changeCodes: readonly ErrorCode[] = [
  ...readCodes,
  'request_too_large',
  'PAYMENT_REQUIRED',
  'idempotency_conflict',
];

const single = (name: string) => objectSchema({ data: schemaReference(name) });
const list = (name: string) =>
  objectSchema({ data: arrayOf(schemaReference(name)), next_cursor: { type: ['string', 'null'] } });

const since = inQuery(
  'since',
  'A length of time before now, such as `90s`, `15m`, `24h` (the default) or `7d`; at most `90d`.',
);
const limit = inQuery('limit', 'Items of a page.', { type: 'integer', minimum: 1, maximum: 200, default: 50 });
const page = [limit, inQuery('cursor', 'The `next_cursor` of the page before.')];
const ofWorkspace = inQuery('workspace', 'Those of this workspace only.');

interface Asked {
  readonly parameters?: readonly object[];
  readonly body?: Parameters<typeof jsonSchemaOf>[0];
  readonly codes?: readonly ErrorCode[];
}

const operation = (
  operationId: string,
  summary: string,
  answer: JsonSchema,
  { parameters = [], body, codes }: Asked = {},
) =>
  jsonOperation({
    operationId,
    summary,
    security: [{ operatorKey: [] }],
    parameters: [...parameters, ...headerParameters.models],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(body) } } } }),
    says: summary,
    answer,
    codes: codes ?? (/^(create|update|rotate|add|enable|disable|activate)/.test(operationId) ? changeCodes : readCodes),
  });

/** The gateway file as text. */
const yaml = { 'application/yaml': { schema: { type: 'string' } } };
const etag = {
  etag: { description: 'Names what is stored: each change of it changes this.', schema: { type: 'string' } },
};

const withEtag = (described: ReturnType<typeof jsonOperation>, moreContent: object = {}) => {
  const { [okStatus]: answer, ...errors } = described.responses as Record<string, { headers: object; content: object }>;
  const content = { ...answer?.content, ...moreContent };
  return {
    ...described,
    responses: { [okStatus]: { ...answer, headers: { ...answer?.headers, ...etag }, content }, ...errors },
  };
};

const callFilters = [
  since,
  ofWorkspace,
  inQuery('key', 'Name or public id of the key.'),
  inQuery('model', 'Asked for, or answered.'),
  inQuery('provider', 'That of any attempt.'),
  inQuery('tag', 'Calls with this tag, as in `team=search`; of several, with commas between them, all.'),
  inQuery('outcome', '`failed`: by the gateway or its providers. `refused`: to their clients.', {
    type: 'string',
    enum: ['failed', 'refused'],
  }),
  inQuery('code', 'Of the error that the client got.'),
  inQuery('interface', 'Through which the call came.', { type: 'string', enum: interfaceIds }),
  inQuery('session', 'The `x-session-id` of the call.'),
  inQuery('before', 'The `next_cursor` of the page before.'),
  limit,
];
const functionName = [inPath('workspace', 'The workspace.'), inPath('id', 'The function.')];
const publicId = inPath('public_id', 'Of the key.');

const operations = {
  session: {
    get: operation('readSession', 'Who asks, and in which workspaces with which role', single('ManagedSession')),
  },
  overview: {
    get: operation('readOverview', 'Calls, failures, cost and latency over the time', single('ManagedOverview'), {
      parameters: [since, inQuery('tag', 'The name of a tag, by whose values calls are grouped too.')],
    }),
  },
  calls: {
    get: operation(
      'listCalls',
      'Calls, the newest first; with `Accept: text/csv` all that are found, as CSV',
      list('ManagedCall'),
      { parameters: callFilters },
    ),
  },
  call: {
    get: operation('readCall', 'One call, with what providers said of their failures', single('ManagedCall'), {
      parameters: [inPath('id', 'The `x-request-id` of the answer.')],
    }),
  },
  providers: {
    get: operation('listProviders', 'Providers: statistics, cooling, use of limits', list('ManagedProvider'), {
      parameters: page,
    }),
  },
  models: {
    get: operation(
      'listCatalogue',
      'The catalogue, with the state of each provider, and beside the model list of this release',
      list('ManagedModel'),
      { parameters: page },
    ),
  },
  modelUpdate: {
    post: operation('updateModels', 'Take the model list of this release over', single('ManagedListUpdate'), {
      body: listUpdateSchema,
    }),
  },
  enableProvider: {
    post: operation(
      'enableProvider',
      'Call a disabled provider again, within 5 s everywhere',
      single('ManagedSwitch'),
      {
        parameters: [inPath('id', 'The provider.')],
      },
    ),
  },
  disableProvider: {
    post: operation('disableProvider', 'Call a provider no more, within 5 s everywhere', single('ManagedSwitch'), {
      parameters: [inPath('id', 'The provider.')],
    }),
  },
  keys: {
    get: operation('listKeys', 'API keys with what they spent', list('ManagedKey'), {
      parameters: [ofWorkspace, ...page],
    }),
    post: operation('createKey', 'Make an API key', single('NewKey'), { body: newKeySchema }),
  },
  key: {
    patch: operation('updateKey', 'Change or revoke an API key', single('ManagedKey'), {
      parameters: [publicId],
      body: keyChangesSchema,
    }),
  },
  rotateKey: {
    post: operation('rotateKey', 'Make a second key beside one, which ends after a grace', single('NewKey'), {
      parameters: [publicId],
      body: rotationSchema,
    }),
  },
  workspaces: {
    get: operation('listWorkspaces', 'Workspaces with their credit', list('ManagedWorkspace'), { parameters: page }),
    post: operation('createWorkspace', 'Make a workspace', single('ManagedWorkspace'), { body: newWorkspaceSchema }),
  },
  workspace: {
    patch: operation('updateWorkspace', 'Change the settings of a workspace', single('ManagedWorkspace'), {
      parameters: [inPath('id', 'The workspace.')],
      body: workspaceChangesSchema,
    }),
  },
  credits: {
    get: operation('listCredits', 'What was added to the credit and taken away, of 30 days', list('ManagedAddition'), {
      parameters: [inPath('id', 'The workspace.'), ...page],
    }),
    post: operation('addCredit', 'Add credit to a workspace, or take some away, once per id', single('ManagedCredit'), {
      parameters: [inPath('id', 'The workspace.')],
      body: creditSchema,
    }),
  },
  functions: {
    get: operation('listFunctions', 'Stored functions with their revisions', list('ManagedFunction'), {
      parameters: [ofWorkspace, ...page],
    }),
  },
  function: {
    get: operation('readFunction', 'A stored function with what its revisions hold', single('ShownFunction'), {
      parameters: functionName,
    }),
  },
  revisions: {
    post: operation(
      'createRevision',
      'Publish a revision, and the function where there is none',
      single('ManagedFunction'),
      {
        parameters: functionName,
        body: publicationSchema,
      },
    ),
  },
  cases: {
    post: operation(
      'createVerdict',
      'Judge the test cases of a revision by the answers that are sent',
      single('ManagedCases'),
      {
        parameters: functionName,
        body: caseAnswersSchema,
      },
    ),
  },
  enableFunction: {
    post: operation('enableFunction', 'Let a function serve again', single('ManagedFunction'), {
      parameters: functionName,
    }),
  },
  disableFunction: {
    post: operation('disableFunction', 'Let a function serve no call', single('ManagedFunction'), {
      parameters: functionName,
    }),
  },
  activateFunction: {
    post: operation('activateRevision', 'Make a revision the one that serves', single('ManagedFunction'), {
      parameters: functionName,
      body: activationSchema,
    }),
  },
  configuration: {
    get: withEtag(
      operation(
        'readConfiguration',
        'The gateway file of what is stored, without secrets, as YAML; with `Accept: application/json` its members',
        objectSchema({ data: { type: 'object' } }),
      ),
      yaml,
    ),
    put: {
      ...withEtag(
        operation(
          'updateConfiguration',
          'Make what is stored what a gateway file says, and tell what changed',
          single('ManagedReplacement'),
          {
            parameters: [
              inQuery('dry_run', '`true`: nothing is written, the answer says what would change.', {
                type: 'string',
                enum: ['true', 'false'],
              }),
              {
                ...inQuery('if-match', 'The `ETag` of what was read. Required, unless it is a dry run.'),
                in: 'header',
              },
            ],
            codes: [...changeCodes, 'precondition_failed'],
          },
        ),
      ),
      requestBody: { required: true, description: 'The gateway file: at most 4 MiB.', content: yaml },
    },
  },
} satisfies Record<keyof typeof managePaths, object>;

/** `/v1/manage/keys/*` with the names of its parameters. */
function describedPath(name: keyof typeof managePaths): string {
  const [operation] = Object.values(operations[name]) as {
    readonly parameters: readonly { name?: string; in?: string }[];
  }[];
  const names = (operation?.parameters ?? []).flatMap((parameter) => (parameter.in === 'path' ? [parameter.name] : []));
  return `/v1${managePaths[name].replaceAll('*', () => `{${names.shift()}}`)}`;
}

export const managePathItems = (more: object): Readonly<Record<string, object>> =>
  Object.fromEntries(
    (Object.keys(managePaths) as (keyof typeof managePaths)[]).map((name) => [
      describedPath(name),
      { ...more, ...operations[name] },
    ]),
  );
