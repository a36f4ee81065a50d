// Finds the endpoint that serves a path.
import { type ErrorFormat, nearestOf } from '../../errors/index.ts';
import {
  type BasePath,
  barePaths,
  basePaths,
  notOffered,
  type VendorBasePath,
  vendorBasePaths,
} from '../../foundation/constants/index.ts';
import type { GatewayRequest, GatewayResponse } from '../http/index.ts';
import { routesBelow } from './base-url-rules.ts';
import type { RequestScope } from './request-scope.ts';

export type Endpoint = (request: GatewayRequest, scope: RequestScope) => Promise<GatewayResponse>;

/**
 * Path → method → endpoint. A `*` matches one segment of the path, `**` one or more, slashes included. Of several
 * matches the first counts.
 */
export type Routes = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** Conventions of a path's clients, whatever the base URL. */
export interface RouteRules {
  readonly errorFormat?: ErrorFormat | undefined;
  /**
   * Headers that select another format for errors, and for other answers with several formats; the first header that
   * was sent counts.
   */
  readonly formatWith?: Readonly<Record<string, ErrorFormat>> | undefined;
  /** Header that names the session if none of the gateway's does. */
  readonly foreignSessionId?: string | undefined;
  /** A second name for the header with the id of the request. */
  readonly requestIdHeader?: string | undefined;
}

export interface RouteTable {
  /** Routes below every base path. */
  readonly api: Routes;
  /** Routes below `/v1` alone. */
  readonly v1Only: Routes;
  /** Routes below the base paths of other vendors. */
  readonly vendor: Readonly<Partial<Record<VendorBasePath, Routes>>>;
  /** Routes outside the base paths. */
  readonly root: Routes;
  readonly cors: boolean;
  /** Rules by the path of a route. */
  readonly routeRules: Readonly<Record<string, RouteRules>>;
}

export interface Location {
  readonly basePath: BasePath;
  /** False if the path is below no base path. */
  readonly isBelowBase: boolean;
  /** Endpoints by method; undefined for an unknown path. */
  readonly methods: Readonly<Record<string, Endpoint>> | undefined;
  readonly pathParameters: readonly string[];
  readonly routeRules: RouteRules;
  /** Route with its base path, and `{id}` for each parameter; undefined for an unknown path. */
  readonly route: string | undefined;
}

/**
 * Returns a function that finds the endpoint. The function caches the routes without a parameter, because there are few
 * of them, and most requests are for them.
 */
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
  const once = path
    .replace(repeatedVersion, '$1/v1')
    .replace(secondVersion, '$1/v1')
    .replace(repeatedGoogleVersion, '/v1beta')
    .replace(encodedOperation, ':');
  const [, bareBase] = Object.entries(barePaths).find(([start]) => isBelow(once, start)) ?? [];
  const bare = bareBase && find(table, bareBase + once);
  return bare?.methods === undefined ? find(table, once) : bare;
}

const isBelow = (path: string, start: string): boolean => path === start || path.startsWith(`${start}/`);

/** Matches a base URL with a `/v1` too many, because clients add their own `/v1`. */
const repeatedVersion = /^(\/openai)?(?:\/v1){2,}(?=\/|$)/;

/**
 * Matches a version too many, because Google's SDKs add `/v1beta`, or `/v1`, to a base URL that may end in a version
 * already.
 */
const repeatedGoogleVersion =
  /^\/v1(?:\/v1)*(?:\/v1beta)+(?=\/|$)|^(?:\/v1beta){2,}(?=\/|$)|^\/v1beta(?:\/v1)+(?=\/|$)/;

/** The colon before an operation at the end of a path. */
const encodedOperation = /%3a(?=[a-z]+$)/i;

/** Matches Cohere's second version, whose reranking has the same request as the first. */
const secondVersion = /^(\/openai)?(?:\/v1)?\/v2(?=\/rerank$)/;

const allBasePaths: readonly BasePath[] = [...basePaths, ...vendorBasePaths];

function find(table: RouteTable, path: string): Location {
  const base = allBasePaths.find((candidate) => path.startsWith(`${candidate}/`));
  if (base !== undefined) {
    const routes: Routes = routesBelow(base, table);
    const below = path.slice(base.length);
    const { pattern, ...matched } = matchPath(routes, below, base);
    const { routeRules } = table;
    const known =
      (pattern === undefined ? undefined : routeRules[pattern]) ?? rulesBelow({ routes, routeRules }, below);
    return { basePath: base, isBelowBase: true, ...matched, routeRules: known };
  }
  const itself = allBasePaths.find((candidate) => path === candidate);
  const { pattern: _pattern, ...matched } = matchPath(table.root, path, '');
  return { basePath: itself ?? basePaths[0], isBelowBase: itself !== undefined, ...matched, routeRules: {} };
}

/**
 * Returns the rules of the route, or of the route that the path continues, because a client of an unknown path below a
 * route uses the same interface.
 */
function rulesBelow(
  { routes, routeRules }: { readonly routes: Routes; readonly routeRules: RouteTable['routeRules'] },
  below: string,
): RouteRules {
  const known = Object.entries(routeRules).find(([route]) => Object.hasOwn(routes, route) && isBelow(below, route));
  return known?.[1] ?? {};
}

interface MatchedPath extends Pick<Location, 'methods' | 'pathParameters' | 'route'> {
  readonly pattern?: string;
}

function matchPath(routes: Routes, path: string, base: string): MatchedPath {
  const routeOf = (pattern: string) => base + pattern.replaceAll(/\*+/g, '{id}');
  if (Object.hasOwn(routes, path) && !path.includes('*')) {
    return { methods: routes[path], pathParameters: [], route: routeOf(path), pattern: path };
  }
  for (const [pattern, methods] of Object.entries(routes)) {
    const matched = pattern.includes('*') ? shapeOf(pattern).exec(path) : null;
    if (matched === null) continue;
    return { methods, pathParameters: matched.slice(1).map(decodePart), route: routeOf(pattern), pattern };
  }
  return { methods: undefined, pathParameters: [], route: undefined };
}

const shapes = new Map<string, RegExp>();

/** Returns a pattern whose groups are the values of each `*`. */
function shapeOf(pattern: string): RegExp {
  const known = shapes.get(pattern);
  if (known !== undefined) return known;
  const source = pattern.replaceAll(/\*+|[.$]/g, (sign) =>
    sign === '**' ? '(.+)' : sign === '*' ? '([^/]+)' : `\\${sign}`,
  );
  const shape = new RegExp(`^${source}$`, 's');
  shapes.set(pattern, shape);
  return shape;
}

/** Decodes a part of a path. A part with invalid percent encoding names nothing that exists, so it stays unchanged. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Paths that clients of other vendors call if their base URL is for another service, or lacks its end. */
const misplacedBases: readonly { readonly start: RegExp; readonly advice: string }[] = [
  {
    start: /^\/anthropic(\/|$)/,
    advice: "The base URL of Anthropic's clients is the address alone, without `/anthropic`.",
  },
  {
    start: /^\/(v1\/|openai\/v1\/)?(model|inference-profiles)(\/|$)/,
    advice: 'The base URL of clients of Amazon Bedrock ends in `/bedrock`.',
  },
  {
    start: /^\/(?!v1\/)(.*\/)?models\/.+:\w+$/,
    advice: "The base URL of Google's clients is the address alone; they add `/v1beta` or `/v1` themselves.",
  },
];

/**
 * Returns the message of a 404, in one line. The message names both base URLs, because a client whose base URL is
 * neither shows nothing else. A path that clients know from elsewhere is named, because its base URL may be right.
 */
export function describePaths({ api, v1Only, vendor }: RouteTable, path: string): string {
  const vendorBase = vendorBasePaths.find((base) => isBelow(path, base));
  if (vendorBase !== undefined) {
    const offered = Object.keys(vendor[vendorBase] ?? {}).map((one) => vendorBase + one.replace(/\*+/, '{model}'));
    return `There is no such path below ${vendorBase}. There are: ${offered.join(', ')}.`;
  }
  const below = path.replace(repeatedVersion, '$1/v1').replace(/^(\/openai)?\/v1(?=\/)/, '');
  const elsewhere = notOffered.find((start) => isBelow(below, start));
  if (elsewhere !== undefined) {
    const what = elsewhere === below ? elsewhere : `this path below ${elsewhere}`;
    return `This gateway does not offer ${what}, whether below ${basePaths[1]} or ${basePaths[0]}.`;
  }
  const misplaced = misplacedBases.find(({ start }) => start.test(path));
  if (misplaced !== undefined) return `There is no such path. ${misplaced.advice}`;
  const known = Object.keys({ ...api, ...v1Only }).filter((one) => !one.includes('*'));
  const suggestion = nearestOf(below, known);
  const advice = suggestion === undefined ? '' : ` Did you mean ${basePaths[0]}${suggestion}?`;
  return `There is no such path. A base URL must end in ${basePaths[1]} (OpenAI's SDKs and frameworks) or in ${basePaths[0]} (everything else).${advice}`;
}
