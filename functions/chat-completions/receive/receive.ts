// Event → call, without any I/O. What is wrong with a body is a value here: the key is asked first (contract 5).

import { fingerprint } from '../../../shared/accounting/idempotency/index.ts';
import { readCredential } from '../../../shared/configuration/keys/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { requestBudgetMs, reservedModelPrefix } from '../../../shared/foundation/constants/index.ts';
import { type Clock, startDeadline } from '../../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import { type JsonBody, readChatRequest, readJsonBody } from '../../../shared/protocol/wire/index.ts';
import type { Call, ReceivedCall } from '../stages.ts';
import { checkFunctionCall } from './check-function-call.ts';
import { readAttribution, readCallHeaders } from './read-call-headers.ts';

export function receive(clock: Clock, request: GatewayRequest, scope: RequestScope): ReceivedCall {
  const credential = readCredential(request.headers);
  if (request.body.kind === 'too_large') throw fail('request_too_large');
  const body = readJsonBody(request.body.bytes);
  const asksFunction = readsAsFunction(body);
  const call = readCall(clock, request, scope, body, asksFunction, request.body.bytes.length);
  return { scope, credential, asksFunction, call };
}

function readCall(
  clock: Clock,
  { headers, arrivedAtMs }: GatewayRequest,
  scope: RequestScope,
  body: JsonBody,
  asksFunction: boolean,
  bodyBytes: number,
): Call | GatewayError {
  if (scope.correlationFault !== undefined) return scope.correlationFault;
  if (body.kind === 'unreadable') {
    // A schema has a code of its own, however little of the body can be read (contract 3).
    const code = body.tooDeepIn === 'response_format' ? 'invalid_response_schema' : 'invalid_request';
    return fail(code, { message: body.message });
  }
  const request = readChatRequest(body.value);
  if (request instanceof GatewayError) return request;
  const callHeaders = readCallHeaders(headers, asksFunction);
  if (callHeaders instanceof GatewayError) return callHeaders;
  return {
    scope,
    request,
    ...callHeaders,
    attribution: readAttribution(headers),
    fingerprint: once(() => fingerprint(body.value, headers)),
    aliasFault: asksFunction ? checkFunctionCall(request.model, callHeaders.idempotencyKey, bodyBytes) : undefined,
    arrivedAtMs,
    deadline: startDeadline(clock, arrivedAtMs, requestBudgetMs),
  };
}

/** Spec 5.2: on a function call a revoked key has its own code, whatever else is wrong with a readable body. */
function readsAsFunction(body: JsonBody): boolean {
  if (body.kind === 'unreadable') return false;
  const { model } = body.value;
  return typeof model === 'string' && model.startsWith(reservedModelPrefix);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
