// The routes of the operator function: the management interface, and the console that uses it.
import { type RouteName, routeNames } from '../../shared/configuration/management/index.ts';
import { basePaths, rootPaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter, type Endpoint } from '../../shared/protocol/router/index.ts';
import { changeKey, listKeys, makeKey, rotate } from './accounts/serve-keys.ts';
import {
  changeCredit,
  editWorkspace,
  listWorkspaces,
  makeWorkspace,
  showCreditHistory,
} from './accounts/serve-workspaces.ts';
import { showSession } from './accounts/show-session.ts';
import { listCatalogue, takeListOver } from './catalogue/serve-catalogue.ts';
import { listProviders, switchProvider } from './catalogue/serve-providers.ts';
import { readConfiguration, replaceConfiguration } from './configuration/serve-configuration.ts';
import type { Page } from './console/page-folder.ts';
import { serveConsole, serveConsoleFile } from './console/serve-console.ts';
import type { OperatorDependencies } from './dependencies.ts';
import { judgeCases } from './functions/run-cases.ts';
import {
  activateRevision,
  listFunctions,
  publishRevision,
  readFunction,
  switchFunction,
} from './functions/serve-functions.ts';
import { listCalls, showCall } from './reports/serve-calls.ts';
import { overview } from './reports/serve-overview.ts';
import { manage, type Works } from './request/manage.ts';

const works: Works = {
  'GET /session': showSession,
  'GET /overview': overview,
  'GET /calls': listCalls,
  'GET /calls/{id}': showCall,
  'GET /providers': listProviders,
  'POST /providers/{id}/enable': switchProvider('enabled'),
  'POST /providers/{id}/disable': switchProvider('disabled'),
  'GET /models': listCatalogue,
  'POST /models/update': takeListOver,
  'GET /keys': listKeys,
  'POST /keys': makeKey,
  'PATCH /keys/{public_id}': changeKey,
  'POST /keys/{public_id}/rotate': rotate,
  'GET /workspaces': listWorkspaces,
  'POST /workspaces': makeWorkspace,
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

/** As the router matches it. */
const patternOf = (path: string): string => `/manage${path.replaceAll(/\{\w+\}/g, '*')}`;

export function createOperatorGateway(deps: OperatorDependencies, page: Page): Gateway {
  const endpoints = new Map<string, Record<string, Endpoint>>();
  const add = <Name extends RouteName>(name: Name) => {
    const [method = '', path = ''] = name.split(' ');
    const pattern = patternOf(path);
    endpoints.set(pattern, { ...endpoints.get(pattern), [method]: manage(deps, name, works[name]) });
  };
  routeNames.forEach(add);
  return createRouter(
    {
      v1Only: Object.fromEntries(endpoints),
      root: {
        [rootPaths.console]: { GET: serveConsole(page, deps.signIn) },
        [rootPaths.consoleFile]: { GET: serveConsoleFile(page, deps.signIn) },
      },
      // A page of another origin has no business with an operator's key.
      cors: false,
    },
    deps,
  );
}

/** Whether the operator function answers a path; every other one is the gateway's. */
export const isOperatorPath = (path: string): boolean =>
  [rootPaths.console, `${basePaths[0]}/manage`].some((own) => path === own || path.startsWith(`${own}/`));
