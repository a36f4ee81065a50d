// Maps each route of the management interface to its implementation, for the router and for the command line.
import { changeKey, listKeys, makeKey, rotate } from './accounts/serve-keys.ts';
import { endOperator, listOperators, makeOperator } from './accounts/serve-operators.ts';
import {
  changeCredit,
  editWorkspace,
  listWorkspaces,
  makeWorkspace,
  showCreditHistory,
  showWorkspace,
} from './accounts/serve-workspaces.ts';
import { showChoices } from './accounts/show-choices.ts';
import { showSession } from './accounts/show-session.ts';
import { listCatalogue, takeListOver } from './catalogue/serve-catalogue.ts';
import { listProviders, switchProvider } from './catalogue/serve-providers.ts';
import { readConfiguration, replaceConfiguration } from './configuration/serve-configuration.ts';
import { judgeCases } from './functions/run-cases.ts';
import {
  activateRevision,
  listFunctions,
  publishRevision,
  readFunction,
  switchFunction,
} from './functions/serve-functions.ts';
import { listCalls, showCall } from './reports/serve-calls.ts';
import { showContent } from './reports/serve-content.ts';
import { overview } from './reports/serve-overview.ts';
import type { Works } from './request/manage.ts';

export const works: Works = {
  'GET /session': showSession,
  'GET /choices': showChoices,
  'GET /overview': overview,
  'GET /calls': listCalls,
  'GET /calls/{id}': showCall,
  'GET /calls/{id}/content': showContent,
  'GET /providers': listProviders,
  'POST /providers/{id}/enable': switchProvider('enabled'),
  'POST /providers/{id}/disable': switchProvider('disabled'),
  'GET /models': listCatalogue,
  'POST /models/update': takeListOver,
  'GET /keys': listKeys,
  'POST /keys': makeKey,
  'PATCH /keys/{public_id}': changeKey,
  'POST /keys/{public_id}/rotate': rotate,
  'GET /operators': listOperators,
  'POST /operators': makeOperator,
  'POST /operators/{public_id}/revoke': endOperator,
  'GET /workspaces': listWorkspaces,
  'POST /workspaces': makeWorkspace,
  'GET /workspaces/{id}': showWorkspace,
  'PATCH /workspaces/{id}': editWorkspace,
  'GET /workspaces/{id}/credits': showCreditHistory,
  'POST /workspaces/{id}/credits': changeCredit,
  'GET /functions': listFunctions,
  'GET /functions/{workspace}/{id}': readFunction,
  'POST /functions/{workspace}/{id}/enable': switchFunction('enable'),
  'POST /functions/{workspace}/{id}/disable': switchFunction('disable'),
  'POST /functions/{workspace}/{id}/activate': activateRevision,
  'POST /functions/{workspace}/{id}/revisions': publishRevision,
  'POST /functions/{workspace}/{id}/cases': judgeCases,
  'GET /configuration': readConfiguration,
  'PUT /configuration': replaceConfiguration,
};
