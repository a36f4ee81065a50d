// Lists the routes of the operator function: the management interface, and the console that uses it.
import { type RouteName, routeNames } from '../../shared/configuration/management/index.ts';
import { basePaths, rootPaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter, type Endpoint } from '../../shared/protocol/router/index.ts';
import type { ConsolePage } from './console/page-folder.ts';
import { serveConsole, serveConsoleFile } from './console/serve-console.ts';
import type { OperatorDependencies } from './dependencies.ts';
import { manage } from './request/manage.ts';
import { works } from './works.ts';

/** Pattern for the router. */
const patternOf = (path: string): string => `/manage${path.replaceAll(/\{\w+\}/g, '*')}`;

export function createOperatorGateway(deps: OperatorDependencies, page: ConsolePage): Gateway {
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
      // Pages of other origins may not use an operator's key.
      cors: false,
    },
    deps,
  );
}

/** Returns true if the operator function answers a path. The gateway answers every other path. */
export const isOperatorPath = (path: string): boolean =>
  [rootPaths.console, `${basePaths[0]}/manage`].some((root) => path === root || path.startsWith(`${root}/`));
