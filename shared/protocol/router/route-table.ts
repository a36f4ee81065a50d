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
  /** Below the first base path alone. */
  readonly firstBase: Routes;
  /** Paths of their own. */
  readonly root: Routes;
}

export interface Location {
  readonly basePath: BasePath;
  /** False: the path is below neither base path. */
  readonly isBelowBase: boolean;
  /** Undefined: no such path. */
  readonly methods: Readonly<Record<string, Endpoint>> | undefined;
  readonly pathParameter: string;
}

export function locate({ api, firstBase, root }: RouteTable, path: string): Location {
  const base = basePaths.find((candidate) => path.startsWith(`${candidate}/`));
  if (base !== undefined) {
    const routes = base === basePaths[0] ? { ...api, ...firstBase } : api;
    return { basePath: base, isBelowBase: true, ...matchPath(routes, path.slice(base.length)) };
  }
  const itself = basePaths.find((candidate) => path === candidate);
  return { basePath: itself ?? basePaths[0], isBelowBase: itself !== undefined, ...matchPath(root, path) };
}

function matchPath(routes: Routes, path: string): Pick<Location, 'methods' | 'pathParameter'> {
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

/**
 * The message of a 404: both base URLs, as a client whose base URL is not one of them shows nothing else, and all paths
 * there are.
 */
export const describePaths = (table: RouteTable): string =>
  `There is no such path. A base URL must end in ${basePaths[1]} (OpenAI's SDKs and frameworks) or in ${basePaths[0]} (everything else). There are: ${pathsOf(table)}`;

const pathsOf = ({ api, firstBase, root }: RouteTable): string =>
  [
    ...Object.entries({ ...api, ...firstBase }).map(
      ([path, methods]) => `${Object.keys(methods).join(', ')} ${basePaths[0]}${path}`,
    ),
    ...Object.keys(root),
  ].join('; ');
