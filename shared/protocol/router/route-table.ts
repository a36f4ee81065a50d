// From a path to the endpoint that serves it.
import { type ErrorFormat, nearestOf } from '../../errors/index.ts';
import { type BasePath, barePaths, basePaths, notOffered } from '../../foundation/constants/index.ts';
import type { GatewayRequest, GatewayResponse } from '../http/index.ts';
import type { RequestScope } from './request-scope.ts';

export type Endpoint = (request: GatewayRequest, scope: RequestScope) => Promise<GatewayResponse>;

/**
 * Path → method → endpoint. A `*` matches one segment of the path, `**` at the end all further ones, slashes included.
 */
export type Routes = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** Conventions of a path's clients, whatever the base URL. */
export interface RouteRules {
  readonly errorFormat?: ErrorFormat | undefined;
  /** Header that switches errors to the form of Messages. */
  readonly messagesFormatWith?: string | undefined;
  /** A header that names the session where none of the gateway does. */
  readonly foreignSessionId?: string | undefined;
  /** A second name for the header with the id of the request. */
  readonly requestIdHeader?: string | undefined;
}

export interface RouteTable {
  /** Below every base path. */
  readonly api: Routes;
  /** Below the first base path alone. */
  readonly v1Only: Routes;
  /** Paths of their own. */
  readonly root: Routes;
  readonly cors: boolean;
  /** Rules by the path of a route. */
  readonly routeRules: Readonly<Record<string, RouteRules>>;
}

export interface Location {
  readonly basePath: BasePath;
  /** False: the path is below neither base path. */
  readonly isBelowBase: boolean;
  /** Undefined for an unknown path. */
  readonly methods: Readonly<Record<string, Endpoint>> | undefined;
  readonly pathParameters: readonly string[];
  readonly routeRules: RouteRules;
  /** Route with its base path, and `{id}` for each parameter; undefined for an unknown path. */
  readonly route: string | undefined;
}

/** Remembers the routes that have no parameter: there are few of them, and most requests are for one. */
export function createLocator(table: RouteTable): (path: string) => Location {
  const remembered = new Map<string, Location>();
  return (path) => {
    const known = remembered.get(path);
    if (known !== undefined) return known;
    const location = locate(table, path);
    if (location.route === path) remembered.set(path, location);
    return location;
  };
}

function locate(table: RouteTable, path: string): Location {
  const once = path.replace(repeatedVersion, '$1/v1').replace(secondVersion, '$1/v1');
  const [, bareBase] = Object.entries(barePaths).find(([start]) => isBelow(once, start)) ?? [];
  const bare = bareBase && find(table, bareBase + once);
  return bare?.methods === undefined ? find(table, once) : bare;
}

const isBelow = (path: string, start: string): boolean => path === start || path.startsWith(`${start}/`);

/** A base URL that has a `/v1` too many: clients add their own. */
const repeatedVersion = /^(\/openai)?(?:\/v1){2,}(?=\/|$)/;

/** Cohere's second version asks the same of reranking as its first. */
const secondVersion = /^(\/openai)?(?:\/v1)?\/v2(?=\/rerank$)/;

function find({ api, v1Only, root, routeRules }: RouteTable, path: string): Location {
  const base = basePaths.find((candidate) => path.startsWith(`${candidate}/`));
  if (base !== undefined) {
    const routes = base === basePaths[0] ? { ...api, ...v1Only } : api;
    const below = path.slice(base.length);
    const known = rulesBelow({ routes, routeRules }, below);
    return { basePath: base, isBelowBase: true, ...matchPath(routes, below, base), routeRules: known };
  }
  const itself = basePaths.find((candidate) => path === candidate);
  return {
    basePath: itself ?? basePaths[0],
    isBelowBase: itself !== undefined,
    ...matchPath(root, path, ''),
    routeRules: {},
  };
}

/**
 * Rules of the route, or of the one that the path continues: a client of an unknown path below it uses the same
 * interface.
 */
function rulesBelow(
  { routes, routeRules }: { readonly routes: Routes; readonly routeRules: RouteTable['routeRules'] },
  below: string,
): RouteRules {
  const known = Object.entries(routeRules).find(([route]) => Object.hasOwn(routes, route) && isBelow(below, route));
  return known?.[1] ?? {};
}

function matchPath(routes: Routes, path: string, base: string): Pick<Location, 'methods' | 'pathParameters' | 'route'> {
  const routeOf = (pattern: string) => base + pattern.replaceAll(/\*+/g, '{id}');
  if (Object.hasOwn(routes, path) && !path.includes('*')) {
    return { methods: routes[path], pathParameters: [], route: routeOf(path) };
  }
  for (const [pattern, methods] of Object.entries(routes)) {
    const pathParameters = pattern.includes('*') ? matchPattern(pattern, path) : undefined;
    if (pathParameters !== undefined) return { methods, pathParameters, route: routeOf(pattern) };
  }
  return { methods: undefined, pathParameters: [], route: undefined };
}

/** Values of each `*`, decoded; undefined for another path. */
function matchPattern(pattern: string, path: string): string[] | undefined {
  const wanted = pattern.split('/');
  const parts = path.split('/');
  if (parts.length < wanted.length) return undefined;
  if (wanted.at(-1) === '**') parts.push(parts.splice(wanted.length - 1).join('/'));
  if (parts.length !== wanted.length) return undefined;
  if (!wanted.every((part, index) => (isAny(part) ? parts[index] !== '' : part === parts[index]))) return undefined;
  return parts.flatMap((part, index) => (isAny(wanted[index]) ? [decodePart(part)] : []));
}

const isAny = (part: string | undefined): boolean => part === '*' || part === '**';

/** A part that is no valid percent encoding names nothing that exists, so it stays as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * The message of a 404, in one line: both base URLs, as a client whose base URL is not one of them shows nothing else. A path
 * that clients know from elsewhere is called by its name: its base URL may be right.
 */
export function describePaths({ api, v1Only }: RouteTable, path: string): string {
  const below = path.replace(repeatedVersion, '$1/v1').replace(/^(\/openai)?\/v1(?=\/)/, '');
  const elsewhere = notOffered.find((start) => isBelow(below, start));
  if (elsewhere !== undefined) {
    const what = elsewhere === below ? elsewhere : `this path below ${elsewhere}`;
    return `This gateway does not offer ${what}, whether below ${basePaths[1]} or ${basePaths[0]}.`;
  }
  const known = Object.keys({ ...api, ...v1Only }).filter((one) => !one.includes('*'));
  const meant = nearestOf(below, known);
  const advice = meant === undefined ? '' : ` Did you mean ${basePaths[0]}${meant}?`;
  return `There is no such path. A base URL must end in ${basePaths[1]} (OpenAI's SDKs and frameworks) or in ${basePaths[0]} (everything else).${advice}`;
}
