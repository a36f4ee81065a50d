// The routes of the operator function: the management interface, and the console that uses it.
import { basePaths, managePaths, rootPaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter } from '../../shared/protocol/router/index.ts';
import { changeKey, listKeys, makeKey } from './accounts/serve-keys.ts';
import { changeCredit, listWorkspaces } from './accounts/serve-workspaces.ts';
import { listCatalogue } from './catalogue/serve-catalogue.ts';
import { listProviders } from './catalogue/serve-providers.ts';
import type { Page } from './console/page-folder.ts';
import { serveConsole, serveConsoleFile } from './console/serve-console.ts';
import type { OperatorDependencies } from './dependencies.ts';
import { activateRevision, listFunctions, switchFunction } from './functions/serve-functions.ts';
import { listCalls, showCall } from './reports/serve-calls.ts';
import { overview } from './reports/serve-overview.ts';
import { manage, type Work } from './request/manage.ts';

export function createOperatorGateway(deps: OperatorDependencies, page: Page): Gateway {
  const serve = (work: Work) => manage(deps, work);
  return createRouter(
    {
      firstBase: {
        [managePaths.overview]: { GET: serve(overview) },
        [managePaths.calls]: { GET: serve(listCalls) },
        [managePaths.call]: { GET: serve(showCall) },
        [managePaths.providers]: { GET: serve(listProviders) },
        [managePaths.models]: { GET: serve(listCatalogue) },
        [managePaths.keys]: { GET: serve(listKeys), POST: serve(makeKey) },
        [managePaths.key]: { PATCH: serve(changeKey) },
        [managePaths.workspaces]: { GET: serve(listWorkspaces) },
        [managePaths.credits]: { POST: serve(changeCredit) },
        [managePaths.functions]: { GET: serve(listFunctions) },
        [managePaths.enableFunction]: { POST: serve(switchFunction('enable')) },
        [managePaths.disableFunction]: { POST: serve(switchFunction('disable')) },
        [managePaths.activateFunction]: { POST: serve(activateRevision) },
      },
      root: {
        [rootPaths.console]: { GET: serveConsole(page) },
        [rootPaths.consoleFile]: { GET: serveConsoleFile(page) },
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
