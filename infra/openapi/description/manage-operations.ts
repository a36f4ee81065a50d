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
  answer: JsonSchema,
  summary: string,
  { parameters = [], body, codes }: Asked = {},
) =>
  jsonOperation({
    operationId,
    summary,
    security: [{ operatorKey: [] }],
    parameters: [...parameters, ...headerParameters.account],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(body) } } } }),
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
const ofFunction = { parameters: functionName };
const ofKey = { parameters: [inPath('public_id', 'Of the key.')] };
const ofProvider = { parameters: [inPath('id', 'The provider.')] };
const workspaceId = inPath('id', 'The workspace.');
const paged = { parameters: page };
const pagedOfWorkspace = { parameters: [ofWorkspace, ...page] };

const csvToo = 'Calls, the newest first; with `Accept: text/csv` all that are found, as CSV';
const tagToGroup = inQuery('tag', 'The name of a tag, by whose values calls are grouped too.');
const readsFile =
  'The gateway file of what is stored, without secrets, as YAML; with `Accept: application/json` its members';
const changesFile = 'Make what is stored what a gateway file says, and tell what changed';
const dryRun = inQuery('dry_run', '`true`: nothing is written, the answer says what would change.', {
  type: 'string',
  enum: ['true', 'false'],
});
const ifMatch = {
  ...inQuery('if-match', 'The `ETag` of what was read. Required, unless it is a dry run.'),
  in: 'header',
};
const fileCodes: readonly ErrorCode[] = [...changeCodes, 'precondition_failed'];

const operations = {
  session: {
    get: operation('readSession', single('ManagedSession'), 'Who asks, and in which workspaces with which role'),
  },
  overview: {
    get: operation('readOverview', single('ManagedOverview'), 'Calls, failures, cost and latency over the time', {
      parameters: [since, tagToGroup],
    }),
  },
  calls: { get: operation('listCalls', list('ManagedCall'), csvToo, { parameters: callFilters }) },
  call: {
    get: operation('readCall', single('ManagedCall'), 'One call, with what providers said of their failures', {
      parameters: [inPath('id', 'The `x-request-id` of the answer.')],
    }),
  },
  providers: {
    get: operation('listProviders', list('ManagedProvider'), 'Providers: statistics, cooling, use of limits', paged),
  },
  models: {
    get: operation(
      'listCatalogue',
      list('ManagedModel'),
      'The catalogue, with the state of each provider, and beside the model list of this release',
      paged,
    ),
  },
  modelUpdate: {
    post: operation('updateModels', single('ManagedListUpdate'), 'Take the model list of this release over', {
      body: listUpdateSchema,
    }),
  },
  enableProvider: {
    post: operation(
      'enableProvider',
      single('ManagedSwitch'),
      'Call a disabled provider again, within 5 s everywhere',
      ofProvider,
    ),
  },
  disableProvider: {
    post: operation(
      'disableProvider',
      single('ManagedSwitch'),
      'Call a provider no more, within 5 s everywhere',
      ofProvider,
    ),
  },
  keys: {
    get: operation('listKeys', list('ManagedKey'), 'API keys with what they spent', pagedOfWorkspace),
    post: operation('createKey', single('NewKey'), 'Make an API key', { body: newKeySchema }),
  },
  key: {
    patch: operation('updateKey', single('ManagedKey'), 'Change or revoke an API key', {
      ...ofKey,
      body: keyChangesSchema,
    }),
  },
  rotateKey: {
    post: operation('rotateKey', single('NewKey'), 'Make a second key beside one, which ends after a grace', {
      ...ofKey,
      body: rotationSchema,
    }),
  },
  workspaces: {
    get: operation('listWorkspaces', list('ManagedWorkspace'), 'Workspaces with their credit', paged),
    post: operation('createWorkspace', single('ManagedWorkspace'), 'Make a workspace', { body: newWorkspaceSchema }),
  },
  workspace: {
    patch: operation('updateWorkspace', single('ManagedWorkspace'), 'Change the settings of a workspace', {
      parameters: [workspaceId],
      body: workspaceChangesSchema,
    }),
  },
  credits: {
    get: operation('listCredits', list('ManagedAddition'), 'What was added to the credit and taken away, of 30 days', {
      parameters: [workspaceId, ...page],
    }),
    post: operation('addCredit', single('ManagedCredit'), 'Add credit to a workspace, or take some away, once per id', {
      parameters: [workspaceId],
      body: creditSchema,
    }),
  },
  functions: {
    get: operation('listFunctions', list('ManagedFunction'), 'Stored functions with their revisions', pagedOfWorkspace),
  },
  function: {
    get: operation(
      'readFunction',
      single('ShownFunction'),
      'A stored function with what its revisions hold',
      ofFunction,
    ),
  },
  revisions: {
    post: operation(
      'createRevision',
      single('ManagedFunction'),
      'Publish a revision, and the function where there is none',
      {
        ...ofFunction,
        body: publicationSchema,
      },
    ),
  },
  cases: {
    post: operation(
      'createVerdict',
      single('ManagedCases'),
      'Judge the test cases of a revision by the answers that are sent',
      {
        ...ofFunction,
        body: caseAnswersSchema,
      },
    ),
  },
  enableFunction: {
    post: operation('enableFunction', single('ManagedFunction'), 'Let a function serve again', ofFunction),
  },
  disableFunction: {
    post: operation('disableFunction', single('ManagedFunction'), 'Let a function serve no call', ofFunction),
  },
  activateFunction: {
    post: operation('activateRevision', single('ManagedFunction'), 'Make a revision the one that serves', {
      ...ofFunction,
      body: activationSchema,
    }),
  },
  configuration: {
    get: withEtag(operation('readConfiguration', objectSchema({ data: { type: 'object' } }), readsFile), yaml),
    put: {
      ...withEtag(
        operation('updateConfiguration', single('ManagedReplacement'), changesFile, {
          parameters: [dryRun, ifMatch],
          codes: fileCodes,
        }),
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
