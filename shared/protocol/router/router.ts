// Routes the requests of every function and of the local server. Finds the endpoint, calls it, and adds ids and CORS
// headers to its answer. An error becomes an envelope; its cause stays in the log.
import {
  type ErrorCode,
  type ErrorFormat,
  fail,
  GatewayError,
  okStatus,
  readErrorFormat,
  toEnvelope,
} from '../../errors/index.ts';
import { headerNames, originRefused, rootPaths } from '../../foundation/constants/index.ts';
import { type Randomness, uuidv7 } from '../../foundation/ids/index.ts';
import { type Log, maskKeys } from '../../foundation/log/index.ts';
import {
  type Attributes,
  flushMaxMs,
  type Span,
  type Telemetry,
  type Trace,
} from '../../foundation/telemetry/index.ts';
import { type Clock, waitAtMost } from '../../foundation/time/index.ts';
import { StoreUnavailable } from '../../storage/store/index.ts';
import {
  type Gateway,
  type GatewayRequest,
  type GatewayResponse,
  type OriginCheck,
  type RequestContext,
  readCorrelation,
  schemeOf,
} from '../http/index.ts';
import type { MemoryBudget } from '../memory-budget/index.ts';
import { baseUrlRulesOf } from './base-url-rules.ts';
import { createDeferredTasks } from './deferred-tasks.ts';
import { logRequest } from './log-request.ts';
import type { RequestScope } from './request-scope.ts';
import { serveHealth, serveLanding } from './root-endpoints.ts';
import {
  createLocator,
  describePaths,
  type Endpoint,
  type Location,
  type RouteRules,
  type Routes,
  type RouteTable,
} from './route-table.ts';

export interface RouterDependencies {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Telemetry; undefined when it is off. */
  readonly telemetry?: Telemetry | undefined;
  readonly memory: MemoryBudget;
  /** Deferred work of earlier answers that still runs. Functions in the same process share this set. */
  readonly settling: Set<Promise<void>>;
  /** Decides which requests came through the edge. */
  readonly origin: OriginCheck;
}

interface RouterOptions {
  /** Routes below the base paths. The default is none. */
  readonly api?: Routes;
  /** Routes below `/v1` alone. */
  readonly v1Only?: Routes;
  /** Routes below the base paths of other vendors. */
  readonly vendor?: RouteTable['vendor'];
  /** Further routes outside the base paths. */
  readonly root?: Routes;
  /** Rules for a path's clients, by the path of its route. */
  readonly routeRules?: RouteTable['routeRules'];
  /**
   * False if pages of other origins may not read an answer, and `OPTIONS` is a method like any other. The default is
   * true.
   */
  readonly cors?: boolean;
}

export function createRouter(
  { api = {}, v1Only = {}, vendor = {}, root = {}, routeRules = {}, cors = true }: RouterOptions,
  dependencies: RouterDependencies,
): Gateway {
  const table = {
    api,
    v1Only,
    vendor,
    root: {
      [rootPaths.health]: { GET: serveHealth },
      [rootPaths.hello]: { GET: serveHealth },
      [rootPaths.landing]: { GET: serveLanding },
      ...root,
    },
    routeRules,
    cors,
  };
  const locate = createLocator(table);
  // A process is starting until its first answer is ready, because earlier requests waited for modules and connections.
  let startedAtMs: number | undefined;
  const { settling } = dependencies;
  const earlierSettled = () =>
    waitAtMost(
      dependencies.clock,
      earlierSettledMaxMs,
      Promise.allSettled(settling).then(() => {}),
      () => {},
    );
  return async (request, context) => {
    const location = locate(request.path);
    const scope = { ...openScope(request, context, location, dependencies), earlierSettled };
    // Spans of earlier requests are sent while this request runs.
    if (context.answersLast === true) void dependencies.telemetry?.flush();
    const coldStart = startedAtMs === undefined || request.arrivedAtMs < startedAtMs;
    const { response, error } = await answer(
      table,
      location,
      request,
      { scope, refusal: context.refusal },
      dependencies,
    );
    startedAtMs ??= dependencies.clock.nowMs();
    // `finish` does not refer to the body of the answer, which may be long, while the call is settled.
    const { status, headers } = response;
    const rest = restOf(response, scope, dependencies);
    return {
      ...response,
      headers: { ...(cors ? corsHeaders : {}), ...idHeaders(scope, location), ...headers },
      memory: scope.memory,
      finish: async () => {
        try {
          const reading = rest?.();
          if (reading !== undefined) await reading;
        } catch (error) {
          scope.memory.end();
          throw error;
        }
        scope.memory.endAnswer();
        const endedAtMs = dependencies.clock.nowMs();
        const settled = scope.deferred.run(() => scope.memory.end());
        settling.add(settled);
        try {
          await settled;
        } finally {
          settling.delete(settled);
        }
        logRequest(dependencies, { request, scope, status, error, coldStart });
        const { trace } = scope;
        if (trace === undefined) return;
        const answer = { status, headers };
        const spanned = { request, route: location.route, scope, response: answer, errorCode: error?.code, endedAtMs };
        dependencies.telemetry?.record(trace, requestSpan(trace, spanned));
        // A process that is frozen now may never continue.
        if (scope.endsAtMs !== undefined && context.answersLast !== true) await sendSpans(scope.endsAtMs, dependencies);
      },
    };
  };
}

/**
 * Longest wait for earlier settlements. It is longer than a settlement takes while the store answers, because the store
 * may wait a second to share a write.
 */
const earlierSettledMaxMs = 2_000;

function openScope(
  request: GatewayRequest,
  { clientGone, keyFound, endsAtMs, cut }: RequestContext,
  { basePath, isBelowBase, methods, pathParameters, routeRules: pathRules }: Location,
  { randomness, log, clock, telemetry, memory }: RouterDependencies,
): Omit<RequestScope, 'earlierSettled'> {
  const baseUrlRules = baseUrlRulesOf[basePath];
  // A client that calls a path below neither base path is usually a client of OpenAI. Its base URL lacks a part, and
  // the client shows only this format.
  const isMisplaced = !isBelowBase && methods === undefined;
  const baseFormat = isMisplaced ? 'openai' : baseUrlRules.errorFormat;
  const clientFormat = baseFormat === 'gateway' ? readErrorFormat(request.headers) : baseFormat;
  const errorFormat = pathRules.errorFormat ?? formatOfHeaders(pathRules, request) ?? clientFormat;
  const { correlation, fault } = readCorrelation(request.headers, randomness, {
    ignoresTraceparent: baseUrlRules.ignoresMalformedTraceparent,
    foreignSessionId: pathRules.foreignSessionId,
  });
  // The record of a call is found by this id, and a UUIDv7 contains its time.
  const correlationId = uuidv7(randomness, clock.nowMs());
  const deferred = createDeferredTasks({ log, clock }, correlationId);
  const trace = request.path === rootPaths.health ? undefined : telemetry?.open(correlation);
  const ids = { correlationId, correlation, correlationFault: fault, trace };
  return {
    ...ids,
    basePath,
    baseUrlRules,
    pathParameters,
    errorFormat,
    clientGone,
    keyFound,
    endsAtMs,
    cut,
    deferred,
    details: {},
    memory: memory.open(),
  };
}

const formatOfHeaders = ({ formatWith = {} }: RouteRules, { headers }: GatewayRequest): ErrorFormat | undefined =>
  Object.entries(formatWith).find(([name]) => headers[name] !== undefined)?.[1];

/**
 * Part of the runtime's remaining time that is reserved for settlement, which matters more than the rest of a stream.
 */
const settlementReserveMs = 3_000;

/** Returns the remaining work of the answer, which for example reads the rest of a stream without a reader. */
function restOf(
  { finish }: GatewayResponse,
  { endsAtMs }: RequestScope,
  { clock }: RouterDependencies,
): GatewayResponse['finish'] {
  if (finish === undefined || endsAtMs === undefined) return finish;
  return () => waitAtMost(clock, Math.max(0, endsAtMs - settlementReserveMs - clock.nowMs()), finish(), () => {});
}

/** Part of the runtime's remaining time that is reserved for the log line about dropped spans. */
const lastSpansReserveMs = 500;

async function sendSpans(endsAtMs: number, { telemetry, clock }: RouterDependencies): Promise<void> {
  const leftMs = endsAtMs - lastSpansReserveMs - clock.nowMs();
  if (leftMs > 0) await telemetry?.flush(Math.min(leftMs, flushMaxMs));
}

const idHeaders = (
  { correlationId, correlation }: RequestScope,
  { routeRules: { requestIdHeader } }: Location,
): Record<string, string> => ({
  [headerNames.requestId]: correlationId,
  ...(requestIdHeader === undefined ? {} : { [requestIdHeader]: correlationId }),
  [headerNames.traceId]: correlation.traceId,
});

interface RequestOutcome {
  readonly response: GatewayResponse;
  readonly error: GatewayError | undefined;
}

async function answer(
  table: RouteTable,
  { methods }: Location,
  request: GatewayRequest,
  { scope, refusal }: { readonly scope: RequestScope; readonly refusal: GatewayError | undefined },
  { log, origin }: RouterDependencies,
): Promise<RequestOutcome> {
  try {
    if (refusal !== undefined) throw refusal;
    // A request that bypasses the edge would skip its web application firewall, so it finds no route. A load balancer
    // requests only the health check.
    const isHealth = request.path === rootPaths.health;
    const accepts = isHealth || origin.accepts(request.headers);
    if (methods === undefined || !(accepts instanceof Promise ? await accepts : accepts)) {
      // Usually only the edge sends a secret. An alarm counts these lines.
      const sendsSecret = methods !== undefined && request.headers[headerNames.originSecret] !== undefined;
      if (sendsSecret) log.error({ event: originRefused, correlation_id: scope.correlationId });
      throw fail('not_found', { message: describePaths(table, request.path) });
    }
    const endpoint = endpointFor(methods, request, scope, table.cors);
    return typeof endpoint === 'function' ? { response: await endpoint(request, scope), error: undefined } : endpoint;
  } catch (error) {
    return toErrorResponse(error, scope, log);
  }
}

/** Returns the endpoint of the request's method, or the answer if none is called. */
function endpointFor(
  methods: Readonly<Record<string, Endpoint>>,
  request: GatewayRequest,
  scope: RequestScope,
  cors: boolean,
): Endpoint | RequestOutcome {
  if (cors && request.method === 'OPTIONS') return { response: preflight(Object.keys(methods)), error: undefined };
  // HEAD runs the endpoint of GET, and the adapters send only the head.
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const endpoint = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (endpoint !== undefined) return endpoint;
  return refuseMethod([...Object.keys(methods).flatMap(withHead), ...(cors ? ['OPTIONS'] : [])], scope);
}

const withHead = (method: string): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

/** Refuses a method; a 405 lists the allowed methods (RFC 9110, 15.5.6). */
function refuseMethod(methods: readonly string[], { correlationId, errorFormat }: RequestScope): RequestOutcome {
  const error = fail('method_not_allowed', {
    message: `This path does not take this method. It takes ${methods.join(', ')}.`,
  });
  const { headers, ...refusal } = toEnvelope(error, correlationId, errorFormat);
  const response = { ...refusal, headers: { ...headers, allow: methods.join(', ') } };
  return { response, error };
}

function toErrorResponse(error: unknown, scope: RequestScope, log: Log): RequestOutcome {
  const { correlationId, errorFormat } = scope;
  const known = toGatewayError(error);
  if (known.cause !== undefined) {
    log.error({ event: 'request_failed', correlation_id: correlationId, error_code: known.code }, known.cause);
  }
  return { response: toEnvelope(known, correlationId, errorFormat), error: known };
}

/** Returns any error as the client sees it. A store that cannot answer becomes RATE_LIMITER_UNAVAILABLE. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof StoreUnavailable) {
    const { exhausted } = error;
    return fail('RATE_LIMITER_UNAVAILABLE', { cause: error, ...(exhausted === undefined ? {} : { exhausted }) });
  }
  return fail('internal_error', { cause: error });
}

// Allows browsers to call the gateway from any page, because the API key is the only permission, and it is never a
// cookie.

/** Headers on every answer, errors included, because a browser hides the body of an answer without them. */
const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
};

const preflightMaxAgeSeconds = 86_400;

/**
 * Returns the answer to a preflight. It has a body, because an empty body has been seen to hang streaming Lambda
 * functions.
 */
const preflight = (methods: readonly string[]): GatewayResponse => ({
  status: okStatus,
  headers: {
    'access-control-allow-methods': [...methods, 'OPTIONS'].join(', '),
    // The wildcard does not cover Authorization, so it is named.
    'access-control-allow-headers': 'Authorization, *',
    'access-control-max-age': String(preflightMaxAgeSeconds),
    'content-type': 'application/json',
  },
  body: '{}',
});

// Makes the span of a request from its log line. The span has no query, no header, and no part of a body.

interface SpannedRequest {
  readonly request: Pick<GatewayRequest, 'method' | 'path' | 'headers' | 'arrivedAtMs'>;
  /** Route; undefined for an unknown path. */
  readonly route: string | undefined;
  readonly scope: Pick<RequestScope, 'correlationId' | 'details'>;
  readonly response: Pick<GatewayResponse, 'status' | 'headers'>;
  readonly errorCode: ErrorCode | undefined;
  /** Time at which its last byte was out. */
  readonly endedAtMs: number;
}

const serverErrorMin = 500;
/** Maximum length of a path. No path of the gateway is longer. */
const pathMaxCharacters = 512;

function requestSpan({ traceId, spanId, parentSpanId }: Trace, spanned: SpannedRequest): Span {
  const { request, route, scope, response, errorCode, endedAtMs } = spanned;
  const { caller, call } = scope.details;
  const attributes: Attributes = {
    'http.request.method': request.method,
    'http.route': route,
    'url.path': maskKeys(request.path.slice(0, pathMaxCharacters)),
    'url.scheme': schemeOf(request),
    'http.response.status_code': BigInt(response.status),
    // A broken stream has a success status and an error code of its own.
    'error.type': errorCode ?? call?.cutCode,
    'gw.workspace': caller?.workspace,
    'gw.key': caller?.keyName,
    'gw.cache': response.headers[headerNames.cache],
    'gw.attempts': call?.attempts === undefined ? undefined : BigInt(call.attempts),
    'gw.correlation_id': scope.correlationId,
    ...Object.fromEntries(Object.entries(call?.tags ?? {}).map(([name, value]) => [`gw.tag.${name}`, value])),
  };
  return {
    traceId,
    spanId,
    parentSpanId,
    name: route === undefined ? request.method : `${request.method} ${route}`,
    kind: 'server',
    startedAtMs: request.arrivedAtMs,
    endedAtMs,
    attributes,
    isError: response.status >= serverErrorMin || call?.outcome === 'cut',
  };
}
