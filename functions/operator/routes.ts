// The routes of the operator function: the management interface, and the console that uses it.
import { rootPaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter, type RouterDependencies } from '../../shared/protocol/router/index.ts';
import type { Page } from './console/page-folder.ts';
import { serveConsole, serveConsoleFile } from './console/serve-console.ts';

export interface OperatorDependencies extends RouterDependencies {
  readonly page: Page;
}

export const createOperatorGateway = (deps: OperatorDependencies): Gateway =>
  createRouter(
    {
      root: {
        [rootPaths.console]: { GET: serveConsole(deps.page) },
        [rootPaths.consoleFile]: { GET: serveConsoleFile(deps.page) },
      },
      // A page of another origin has no business with an operator's key.
      cors: false,
    },
    deps,
  );

/** Whether the operator function answers a path; every other one is the gateway's. */
export const isOperatorPath = (path: string): boolean =>
  path === rootPaths.console || path.startsWith(`${rootPaths.console}/`) || path.startsWith('/v1/manage/');
