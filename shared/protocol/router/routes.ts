// From a path to the endpoint that serves it.
import { type BasePath, basePaths } from '../../foundation/constants/index.ts';
import type { GatewayRequest, GatewayResponse } from '../http/index.ts';
import type { RequestScope } from './request-scope.ts';

export type Endpoint = (request: GatewayRequest, scope: RequestScope) => Promise<GatewayResponse>;

/** Path → method → endpoint. A path that ends in `*` takes one more part, which may hold slashes. */
export type Routes = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

export interface RouteTable {
  /** Below every base path. */
  readonly api: Routes;
  /** Below the first base path alone (contract 20 lists what the second one has). */
  readonly firstBase: Routes;
  /** Paths of their own. */
  readonly root: Routes;
}

export interface Location {
  readonly basePath: BasePath;
  /** Undefined: no such path. */
  readonly methods: Readonly<Record<string, Endpoint>> | undefined;
  readonly pathParameter: string;
}

export function locate({ api, firstBase, root }: RouteTable, path: string): Location {
  const base = basePaths.find((candidate) => path.startsWith(`${candidate}/`));
  if (base !== undefined) {
    const routes = base === basePaths[0] ? { ...api, ...firstBase } : api;
    return { basePath: base, ...matchPath(routes, path.slice(base.length)) };
  }
  return { basePath: basePaths[0], ...matchPath(root, path) };
}

function matchPath(routes: Routes, path: string): Omit<Location, 'basePath'> {
  if (Object.hasOwn(routes, path) && !path.endsWith('*')) return { methods: routes[path], pathParameter: '' };
  for (const [pattern, methods] of Object.entries(routes)) {
    const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : undefined;
    if (prefix === undefined || !path.startsWith(prefix) || path.length === prefix.length) continue;
    return { methods, pathParameter: decodePart(path.slice(prefix.length)) };
  }
  return { methods: undefined, pathParameter: '' };
}

/** A part that is no valid percent encoding names nothing that exists, so it stays as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** All paths there are, for the message of a 404. */
export const describePaths = ({ api, firstBase, root }: RouteTable): string =>
  [
    ...Object.entries({ ...api, ...firstBase }).map(
      ([path, methods]) => `${Object.keys(methods).join(', ')} ${basePaths[0]}${path}`,
    ),
    ...Object.keys(root),
  ].join('; ');
