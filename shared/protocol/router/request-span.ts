// The span of a request, made from its log line. No query, no header, nothing of a body.
import type { ErrorCode } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import { maskKeys } from '../../foundation/log/index.ts';
import type { Attributes, Span, Trace } from '../../foundation/telemetry/index.ts';
import { type GatewayRequest, type GatewayResponse, schemeOf } from '../http/index.ts';
import type { RequestScope } from './request-scope.ts';

interface SpannedRequest {
  readonly request: Pick<GatewayRequest, 'method' | 'path' | 'headers' | 'arrivedAtMs'>;
  /** Undefined for an unknown path. */
  readonly route: string | undefined;
  readonly scope: Pick<RequestScope, 'correlationId' | 'details'>;
  readonly response: Pick<GatewayResponse, 'status' | 'headers'>;
  readonly errorCode: ErrorCode | undefined;
  /** When its last byte was out. */
  readonly endedAtMs: number;
}

const serverErrorMin = 500;
/** A longer one is none of ours. */
const pathMaxCharacters = 512;

export function requestSpan({ traceId, spanId, parentSpanId }: Trace, spanned: SpannedRequest): Span {
  const { request, route, scope, response, errorCode, endedAtMs } = spanned;
  const { caller, call } = scope.details;
  const attributes: Attributes = {
    'http.request.method': request.method,
    'http.route': route,
    'url.path': maskKeys(request.path.slice(0, pathMaxCharacters)),
    'url.scheme': schemeOf(request),
    'http.response.status_code': BigInt(response.status),
    // A broken stream has a good status and a code of its own.
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
