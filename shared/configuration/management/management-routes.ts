// The management interface as one table: the router of `/v1/manage`, its description, the client of the console's page and the
// command line are readers of it.
import {
  activationSchema,
  caseAnswersSchema,
  creditSchema,
  keyChangesSchema,
  listUpdateSchema,
  newKeySchema,
  newWorkspaceSchema,
  publicationSchema,
  rotationSchema,
  workspaceChangesSchema,
} from './bodies.ts';
import { callsQuery, dryRunQuery, overviewQuery, pageOfWorkspaceQuery, pageQuery } from './queries.ts';
import type { ManagementRoute } from './route-form.ts';

const mebibyte = 1024 * 1024;
const ofProvider = { id: 'The provider.' };
const ofKey = { public_id: 'Of the key.' };
const ofWorkspace = { id: 'The workspace.' };
const ofFunction = { workspace: 'The workspace.', id: 'The function.' };

/** By method and path below `/v1/manage`. */
export const managementRoutes = {
  'GET /session': {
    operation: 'readSession',
    summary: 'Who asks, and in which workspaces with which role',
    role: 'member',
    answer: { one: 'ManagedSession' },
  },
  'GET /overview': {
    operation: 'readOverview',
    summary: 'Calls, failures, cost and latency over the time',
    role: 'member',
    query: overviewQuery,
    answer: { one: 'ManagedOverview' },
  },
  'GET /calls': {
    operation: 'listCalls',
    summary: 'Calls, the newest first; with `Accept: text/csv` all that are found, as CSV',
    role: 'member',
    query: callsQuery,
    answer: { list: 'ManagedCall' },
  },
  'GET /calls/{id}': {
    operation: 'readCall',
    summary: 'One call, with what providers said of their failures',
    role: 'member',
    names: { id: 'The `x-request-id` of the answer.' },
    answer: { one: 'ManagedCall' },
  },
  'GET /providers': {
    operation: 'listProviders',
    summary: 'Providers: statistics, cooling, use of limits',
    role: 'viewer',
    query: pageQuery,
    answer: { list: 'ManagedProvider' },
  },
  'POST /providers/{id}/enable': {
    operation: 'enableProvider',
    summary: 'Call a disabled provider again, within 5 s everywhere',
    role: 'editor',
    in: 'all',
    names: ofProvider,
    answer: { one: 'ManagedSwitch' },
  },
  'POST /providers/{id}/disable': {
    operation: 'disableProvider',
    summary: 'Call a provider no more, within 5 s everywhere',
    role: 'editor',
    in: 'all',
    names: ofProvider,
    answer: { one: 'ManagedSwitch' },
  },
  'GET /models': {
    operation: 'listCatalogue',
    summary: 'The catalogue, with the state of each provider, and beside the model list of this release',
    role: 'viewer',
    query: pageQuery,
    answer: { list: 'ManagedModel' },
  },
  'POST /models/update': {
    operation: 'updateModels',
    summary: 'Take the model list of this release over',
    role: 'owner',
    in: 'all',
    body: listUpdateSchema,
    answer: { one: 'ManagedListUpdate' },
  },
  'GET /keys': {
    operation: 'listKeys',
    summary: 'API keys with what they spent',
    role: 'member',
    query: pageOfWorkspaceQuery,
    answer: { list: 'ManagedKey' },
  },
  'POST /keys': {
    operation: 'createKey',
    summary: 'Make an API key',
    role: 'member',
    body: newKeySchema,
    answer: { one: 'NewKey' },
  },
  'PATCH /keys/{public_id}': {
    operation: 'updateKey',
    summary: 'Change or revoke an API key',
    role: 'member',
    names: ofKey,
    body: keyChangesSchema,
    answer: { one: 'ManagedKey' },
  },
  'POST /keys/{public_id}/rotate': {
    operation: 'rotateKey',
    summary: 'Make a second key beside one, which ends after a grace',
    role: 'member',
    names: ofKey,
    body: rotationSchema,
    answer: { one: 'NewKey' },
  },
  'GET /workspaces': {
    operation: 'listWorkspaces',
    summary: 'Workspaces with their credit',
    role: 'viewer',
    query: pageQuery,
    answer: { list: 'ManagedWorkspace' },
  },
  'POST /workspaces': {
    operation: 'createWorkspace',
    summary: 'Make a workspace',
    role: 'owner',
    in: 'all',
    body: newWorkspaceSchema,
    answer: { one: 'ManagedWorkspace' },
  },
  'PATCH /workspaces/{id}': {
    operation: 'updateWorkspace',
    summary: 'Change the settings of a workspace',
    role: 'owner',
    in: 'path',
    names: ofWorkspace,
    body: workspaceChangesSchema,
    answer: { one: 'ManagedWorkspace' },
  },
  'GET /workspaces/{id}/credits': {
    operation: 'listCredits',
    summary: 'What was added to the credit and taken away, of 30 days',
    role: 'viewer',
    in: 'path',
    names: ofWorkspace,
    query: pageQuery,
    answer: { list: 'ManagedAddition' },
  },
  'POST /workspaces/{id}/credits': {
    operation: 'addCredit',
    summary: 'Add credit to a workspace, or take some away, once per id',
    role: 'owner',
    in: 'path',
    names: ofWorkspace,
    body: creditSchema,
    answer: { one: 'ManagedCredit' },
  },
  'GET /functions': {
    operation: 'listFunctions',
    summary: 'Stored functions with their revisions',
    role: 'viewer',
    query: pageOfWorkspaceQuery,
    answer: { list: 'ManagedFunction' },
  },
  'GET /functions/{workspace}/{id}': {
    operation: 'readFunction',
    summary: 'A stored function with what its revisions hold',
    role: 'viewer',
    in: 'path',
    names: ofFunction,
    answer: { one: 'ShownFunction' },
  },
  'POST /functions/{workspace}/{id}/enable': {
    operation: 'enableFunction',
    summary: 'Let a function serve again',
    role: 'editor',
    in: 'path',
    names: ofFunction,
    answer: { one: 'ManagedFunction' },
  },
  'POST /functions/{workspace}/{id}/disable': {
    operation: 'disableFunction',
    summary: 'Let a function serve no call',
    role: 'editor',
    in: 'path',
    names: ofFunction,
    answer: { one: 'ManagedFunction' },
  },
  'POST /functions/{workspace}/{id}/activate': {
    operation: 'activateRevision',
    summary: 'Make a revision the one that serves',
    role: 'editor',
    in: 'path',
    names: ofFunction,
    body: activationSchema,
    answer: { one: 'ManagedFunction' },
  },
  'POST /functions/{workspace}/{id}/revisions': {
    operation: 'createRevision',
    summary: 'Publish a revision, and the function where there is none',
    role: 'editor',
    in: 'path',
    names: ofFunction,
    body: publicationSchema,
    // A revision holds up to four calls of the largest size.
    bodyMaxBytes: mebibyte + 64 * 1024,
    answer: { one: 'ManagedFunction' },
  },
  'POST /functions/{workspace}/{id}/cases': {
    operation: 'createVerdict',
    summary: 'Judge the test cases of a revision by the answers that are sent',
    role: 'editor',
    in: 'path',
    names: ofFunction,
    body: caseAnswersSchema,
    // Texts of answers, of all calls of all cases.
    bodyMaxBytes: 4 * mebibyte,
    answer: { one: 'ManagedCases' },
  },
  'GET /configuration': {
    operation: 'readConfiguration',
    summary:
      'The gateway file of what is stored, without secrets, as YAML; with `Accept: application/json` its members',
    role: 'owner',
    in: 'all',
    answer: 'gateway file',
  },
  'PUT /configuration': {
    operation: 'updateConfiguration',
    summary: 'Make what is stored what a gateway file says, and tell what changed',
    role: 'owner',
    in: 'all',
    query: dryRunQuery,
    body: 'gateway file',
    bodyMaxBytes: 4 * mebibyte,
    answer: { one: 'ManagedReplacement' },
  },
} as const satisfies Readonly<Record<`${'GET' | 'POST' | 'PATCH' | 'PUT'} /${string}`, ManagementRoute>>;

export type RouteName = keyof typeof managementRoutes;
export const routeNames = Object.keys(managementRoutes) as RouteName[];
