// The routes of the operator function: the management interface, and the console that uses it.
import type { Role } from '../../shared/configuration/access/index.ts';
import { basePaths, managePaths, rootPaths } from '../../shared/foundation/constants/index.ts';
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
import { inTurn } from './request/in-turn.ts';
import { manage, type Need, type Work } from './request/manage.ts';

interface ManageRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly path: string;
  readonly needs: Need;
  readonly work: Work;
  /** It reads many calls. */
  readonly isReport?: boolean;
}

const some = (role: Role): Need => ({ role, in: 'some' });
const inAll = (role: Role): Need => ({ role, in: 'all' });
const inPath = (role: Role): Need => ({ role, in: 'path' });

/** Every route of the management interface, with the role that opens it. */
export const manageRoutes: readonly ManageRoute[] = [
  { method: 'GET', path: managePaths.session, needs: some('member'), work: showSession },
  { method: 'GET', path: managePaths.overview, needs: some('member'), work: overview, isReport: true },
  { method: 'GET', path: managePaths.calls, needs: some('member'), work: listCalls },
  { method: 'GET', path: managePaths.call, needs: some('member'), work: showCall },
  { method: 'GET', path: managePaths.providers, needs: some('viewer'), work: listProviders },
  { method: 'POST', path: managePaths.enableProvider, needs: inAll('editor'), work: switchProvider('enabled') },
  { method: 'POST', path: managePaths.disableProvider, needs: inAll('editor'), work: switchProvider('disabled') },
  { method: 'GET', path: managePaths.models, needs: some('viewer'), work: listCatalogue },
  { method: 'POST', path: managePaths.modelUpdate, needs: inAll('owner'), work: takeListOver },
  { method: 'GET', path: managePaths.keys, needs: some('member'), work: listKeys },
  { method: 'POST', path: managePaths.keys, needs: some('member'), work: makeKey },
  { method: 'POST', path: managePaths.rotateKey, needs: some('member'), work: rotate },
  { method: 'PATCH', path: managePaths.key, needs: some('member'), work: changeKey },
  { method: 'GET', path: managePaths.workspaces, needs: some('viewer'), work: listWorkspaces },
  { method: 'POST', path: managePaths.workspaces, needs: inAll('owner'), work: makeWorkspace },
  { method: 'GET', path: managePaths.credits, needs: inPath('viewer'), work: showCreditHistory },
  { method: 'POST', path: managePaths.credits, needs: inPath('owner'), work: changeCredit },
  { method: 'PATCH', path: managePaths.workspace, needs: inPath('owner'), work: editWorkspace },
  { method: 'GET', path: managePaths.functions, needs: some('viewer'), work: listFunctions },
  { method: 'POST', path: managePaths.enableFunction, needs: inPath('editor'), work: switchFunction('enable') },
  { method: 'POST', path: managePaths.disableFunction, needs: inPath('editor'), work: switchFunction('disable') },
  { method: 'POST', path: managePaths.activateFunction, needs: inPath('editor'), work: activateRevision },
  { method: 'POST', path: managePaths.revisions, needs: inPath('editor'), work: publishRevision },
  { method: 'POST', path: managePaths.cases, needs: inPath('editor'), work: judgeCases },
  { method: 'GET', path: managePaths.function, needs: inPath('viewer'), work: readFunction },
  { method: 'GET', path: managePaths.configuration, needs: inAll('owner'), work: readConfiguration },
  { method: 'PUT', path: managePaths.configuration, needs: inAll('owner'), work: replaceConfiguration },
];

export function createOperatorGateway(deps: OperatorDependencies, page: Page): Gateway {
  const endpoints = new Map<string, Record<string, Endpoint>>();
  for (const { method, path, needs, work, isReport } of manageRoutes) {
    const paced = isReport === true ? inTurn(work) : work;
    endpoints.set(path, { ...endpoints.get(path), [method]: manage(deps, needs, paced) });
  }
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
