// Request → call. Its body is read and parsed in the name of a key that exists only. What is wrong with it is a value
// here: whether the key may call at all is asked first.

import { fingerprint } from '../../../shared/accounting/idempotency/index.ts';
import { readCredential } from '../../../shared/configuration/keys/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import {
  functionAliasPrefix,
  functionBodyMaxBytes,
  plainBodyMaxBytes,
  requestBudgetMs,
  reservedModelPrefix,
} from '../../../shared/foundation/constants/index.ts';
import { nextTurn, startDeadline } from '../../../shared/foundation/time/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import {
  type ChatRequest,
  gatewayMembers,
  readChatRequest,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import {
  type BodyText,
  findMember,
  type JsonText,
  parseJson,
  readRequestBody,
} from '../../../shared/protocol/wire/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Call, ReadCall, ReceivedCall } from '../stages.ts';
import { checkFunctionCall } from './check-function-call.ts';
import { withoutIdleMembers } from './idle-members.ts';
import { readAttribution, readCallHeaders, readTagsHeader } from './read-call-headers.ts';

/** Between two steps that go through a longer body, whatever else waits for the event loop has its turn. */
const longBodyBytes = 64 * 1024;

/** The one that this endpoint serves. */
const interfaceId = 'chat-completions';

type Times = Pick<GatewayDependencies, 'clock' | 'times'>;

/** Needs the headers only: the key is looked up while the body is on its way. */
export function receive(deps: Times, request: GatewayRequest, scope: RequestScope): ReceivedCall {
  const credential = readCredential(request.headers);
  let seen: ReadCall | undefined;
  const read = once(async (): Promise<ReadCall> => {
    const bytes = await request.readBody(credential.publicId);
    const body = readRequestBody(bytes, gatewayMembers);
    if (bytes.length > longBodyBytes) await nextTurn();
    const model = readModel(body);
    // On a function call a revoked key has its own code, whatever else is wrong with a readable body.
    const asksFunction = model?.startsWith(reservedModelPrefix) === true;
    seen = { model, asksFunction, call: readCall(deps, request, scope, body, asksFunction, bytes.length) };
    if (bytes.length > longBodyBytes) await nextTurn();
    return seen;
  });
  const { headers, arrivedAtMs } = request;
  const isOversized = request.declaredBodyBytes > plainBodyMaxBytes;
  const attribution = readAttribution(headers);
  const sent = readTagsHeader(headers);
  const tags = sent instanceof GatewayError ? {} : sent;
  return { interfaceId, scope, credential, attribution, tags, arrivedAtMs, isOversized, read, seen: () => seen };
}

function readCall(
  { clock, times }: Times,
  { headers, arrivedAtMs }: GatewayRequest,
  scope: RequestScope,
  body: BodyText,
  asksFunction: boolean,
  bodyBytes: number,
): Call | GatewayError {
  if (scope.correlationFault !== undefined) return scope.correlationFault;
  if (body.kind === 'unreadable') return body.error;
  const { json } = body;
  const model = readModel(body);
  // Also where the alias is none: its form is told before the types of what else was sent.
  const isAlias = model?.startsWith(functionAliasPrefix) === true;
  const request = isAlias ? readFunctionRequest(json, bodyBytes, scope) : readChatRequest(json);
  if (request instanceof GatewayError) return request;
  const callHeaders = readCallHeaders(headers, asksFunction);
  if (callHeaders instanceof GatewayError) return callHeaders;
  const tags = readTagsHeader(headers);
  if (tags instanceof GatewayError) return tags;
  return {
    interfaceId,
    scope,
    request,
    ...callHeaders,
    // A UUID is the same in either letter case.
    idempotencyKey: asksFunction ? callHeaders.idempotencyKey?.toLowerCase() : callHeaders.idempotencyKey,
    attribution: readAttribution(headers),
    tags,
    fingerprint: once(() => fingerprint(interfaceId, json, headers)),
    aliasFault: asksFunction ? checkFunctionCall(request.model, callHeaders.idempotencyKey, bodyBytes) : undefined,
    arrivedAtMs,
    deadline: startDeadline(clock, arrivedAtMs, requestBudgetMs),
    streamDeadline: startDeadline(clock, arrivedAtMs, times.streamBudgetMs),
  };
}

/**
 * Only the members that a function does not fix are checked here: any other is invalid_function_request, whatever its
 * type.
 */
function readFunctionRequest(
  json: JsonText,
  bodyBytes: number,
  { conventions }: RequestScope,
): ChatRequest | GatewayError {
  // A larger one is refused for its size.
  const isWithinSize = bodyBytes <= functionBodyMaxBytes;
  const raw = isWithinSize ? (parseJson(json.text) as Record<string, unknown>) : { model: readModelOf(json) };
  const { model, messages } = raw;
  const request = readChatRequest({ model, messages: isWithinSize ? messages : [{ role: 'user' }] });
  if (request instanceof GatewayError) return request;
  return { ...request, raw: conventions.dropsIdleMembers ? withoutIdleMembers(raw) : raw };
}

const readModel = (body: BodyText): string | undefined =>
  body.kind === 'unreadable' ? undefined : readModelOf(body.json);

function readModelOf(json: JsonText): string | undefined {
  const member = findMember(json, 'model');
  const text = member === undefined ? '' : json.slice(member);
  return text.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
