// Turns a request into a call. A fault of its body is returned, not thrown, because the key is checked first. The body
// of a request without an existing key is neither read nor parsed.
import { fingerprint } from '../../../shared/accounting/idempotency/index.ts';
import { readCredential } from '../../../shared/configuration/keys/index.ts';
import { parseFunctionAlias } from '../../../shared/configuration/stored-functions/index.ts';
import { fail, GatewayError } from '../../../shared/errors/index.ts';
import { once } from '../../../shared/foundation/cache/index.ts';
import {
  formBodyMaxBytes,
  functionBodyMaxBytes,
  headerNames,
  plainBodyMaxBytes,
  requestBudgetMs,
  reservedModelPrefix,
} from '../../../shared/foundation/constants/index.ts';
import { freeBytes } from '../../../shared/foundation/heap/index.ts';
import { nextTurn, startDeadline } from '../../../shared/foundation/time/index.ts';
import { type FormText, formBoundary, readForm } from '../../../shared/protocol/forms/index.ts';
import { type GatewayRequest, type HeaderValues, readPlainBody } from '../../../shared/protocol/http/index.ts';
import {
  betasIn,
  type CallPath,
  type ClientInterface,
  openBodyMemory,
  readModel,
} from '../../../shared/protocol/interfaces/index.ts';
import {
  type BodyAllocation,
  headWeight,
  noRequest,
  openBodyAllocation,
  type RequestAllocation,
  sizeOfRequest,
} from '../../../shared/protocol/memory-budget/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import { type BodyText, readRequestBody, type Tags } from '../../../shared/protocol/wire/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ParsedBody, ParsedCall, ReceivedCall } from '../stages.ts';
import { readAttribution, readCallHeaders, readPassedOn, readTagsHeader } from './read-call-headers.ts';

type Times = Pick<GatewayDependencies, 'clock' | 'times'>;

/** Reads the headers only, so that the key is looked up while the body is being received. */
export function receive(
  deps: Times,
  clientInterface: ClientInterface,
  request: GatewayRequest,
  scope: RequestScope,
  operation?: string,
): ReceivedCall {
  const credential = readCredential(request, clientInterface);
  const path = operation === undefined ? undefined : pathOfCall(request, scope, operation);
  const attribution = readAttribution(request.headers);
  const sentTags = readTagsHeader(request.headers);
  let parsed: ParsedBody | undefined;
  let reading: Promise<ParsedBody> | undefined;
  async function readAs(workspace: string): Promise<ParsedBody> {
    const taking = { workspace, gone: scope.clientGone };
    const { body, bodyBytes, allocation } = await readBody(
      request,
      clientInterface,
      scope.memory.openRequest(),
      taking,
    );
    const isLong = body.kind !== 'unreadable' && body.json.isLong;
    if (isLong) await nextTurn();
    const model = body.kind === 'unreadable' ? undefined : (path?.model ?? readModel(body.json));
    // On a function call a revoked key has its own code, whatever else is wrong with a valid body.
    const isFunctionCall = clientInterface.callsFunctions && model?.startsWith(reservedModelPrefix) === true;
    const shape = { clientInterface, credential, path, isFunctionCall, bodyBytes, allocation, attribution, sentTags };
    const call = readCall(deps, request, scope, body, shape);
    if (call instanceof GatewayError) allocation.end();
    parsed = { model, isFunctionCall, call };
    if (isLong) await nextTurn();
    return parsed;
  }
  const { arrivedAtMs } = request;
  const isOversized = request.declaredBodyBytes > bodyMaxBytes(request, clientInterface);
  const tags = sentTags instanceof GatewayError ? {} : sentTags;
  return {
    clientInterface,
    scope,
    credential,
    attribution,
    tags,
    arrivedAtMs,
    isOversized,
    read(workspace) {
      reading ??= readAs(workspace);
      return reading;
    },
    parsedSoFar: () => parsed,
  };
}

/** Describes the path. A path names one model, and its other parameters belong to the interface. */
const pathOfCall = ({ query }: GatewayRequest, { pathParameters }: RequestScope, operation: string): CallPath => ({
  model: pathParameters[0] ?? '',
  operation,
  query,
});

/** Parts of a request other than its body. */
interface ReadParts {
  readonly clientInterface: ClientInterface;
  readonly credential: ParsedCall['credential'];
  readonly path: CallPath | undefined;
  readonly isFunctionCall: boolean;
  readonly bodyBytes: number;
  readonly allocation: BodyAllocation;
  readonly attribution: ParsedCall['attribution'];
  readonly sentTags: Tags | GatewayError;
}

function readCall(
  { clock, times }: Times,
  { headers, query, arrivedAtMs }: GatewayRequest,
  scope: RequestScope,
  body: BodyText | FormText,
  { clientInterface, credential, path, isFunctionCall, bodyBytes, allocation, attribution, sentTags: tags }: ReadParts,
): ParsedCall | GatewayError {
  if (scope.correlationFault !== undefined) return scope.correlationFault;
  if (body.kind === 'unreadable') return body.error;
  const { json } = body;
  const { dropsUnusedFields } = scope.baseUrlRules;
  const passedOn = readPassedOn(clientInterface, headers, query);
  const betas = passedOn instanceof GatewayError ? undefined : betasIn(passedOn);
  const form = 'form' in body ? body.form : undefined;
  const request = clientInterface.readRequest(json, { bodyBytes, dropsUnusedFields, betas, path, form });
  if (request instanceof GatewayError) return request;
  const { unusedFields } = request;
  const callHeaders = readCallHeaders(headers, isFunctionCall);
  if (callHeaders instanceof GatewayError) return callHeaders;
  if (tags instanceof GatewayError) return tags;
  if (passedOn instanceof GatewayError) return passedOn;
  const budget = clientInterface.takesLong ? times.slow : { ...times, requestBudgetMs };
  return {
    clientInterface,
    scope,
    credential,
    isFunctionCall,
    clientBody: { request, bodyMemory: openBodyMemory(request, allocation) },
    byokKey: callHeaders.byokKey,
    // A UUID is the same in either letter case.
    idempotencyKey: isFunctionCall ? callHeaders.idempotencyKey?.toLowerCase() : callHeaders.idempotencyKey,
    attribution,
    tags,
    passedOn,
    fingerprint: once(() =>
      fingerprint(clientInterface.id, json, heededHeaders(headers, scope), { passedOn, unusedFields, path }),
    ),
    aliasFault: isFunctionCall ? checkFunctionCall(request.model, callHeaders.idempotencyKey, bodyBytes) : undefined,
    arrivedAtMs,
    deadline: startDeadline(clock, arrivedAtMs, budget.requestBudgetMs),
    streamDeadline: startDeadline(clock, arrivedAtMs, budget.streamBudgetMs),
    leaseUntilMs: arrivedAtMs + budget.holdLifeMs,
  };
}

/** Removes a `traceparent` that the base URL ignores. */
const heededHeaders = (headers: HeaderValues, { correlation: { traceparent } }: RequestScope): HeaderValues =>
  traceparent === undefined ? { ...headers, [headerNames.traceparent]: [] } : headers;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Checks the form of a function call before anything is looked up. */
function checkFunctionCall(
  model: string,
  idempotencyKey: string | undefined,
  bodyBytes: number,
): GatewayError | undefined {
  if (parseFunctionAlias(model) === undefined) return fail('invalid_function_alias', { param: 'model' });
  if (idempotencyKey !== undefined && !uuidPattern.test(idempotencyKey)) {
    return fail('invalid_function_alias', { message: 'The Idempotency-Key of a function call must be a UUID.' });
  }
  return bodyBytes > functionBodyMaxBytes ? fail('request_too_large') : undefined;
}

// Reads the body of a call, which is JSON or a form, into the text that the interface parses.

interface BodyOfCall {
  readonly body: BodyText | FormText;
  readonly bodyBytes: number;
  /** Memory of the body; empty if the body is invalid. */
  readonly allocation: BodyAllocation;
}

/** Returns undefined if the body is not a form, or if the interface reads no form. */
const boundaryIn = ({ headers }: GatewayRequest, { formFields }: ClientInterface): string | undefined =>
  formFields && formBoundary(headers['content-type']?.join(','));

const bodyMaxBytes = (request: GatewayRequest, clientInterface: ClientInterface): number =>
  boundaryIn(request, clientInterface) === undefined ? plainBodyMaxBytes : formBodyMaxBytes;

/**
 * Reads the body. All memory of the body is reserved in `memory` before its first byte is read. Rejects as
 * `readPlainBody` does.
 */
async function readBody(
  request: GatewayRequest,
  clientInterface: ClientInterface,
  allocation: RequestAllocation,
  taking: { readonly workspace: string; readonly gone: AbortSignal },
): Promise<BodyOfCall> {
  const boundary = boundaryIn(request, clientInterface);
  const { formFields } = clientInterface;
  const weight = headWeight(clientInterface.id, boundary !== undefined);
  const bytes = await readPlainBody(request, { ...taking, allocation, weight }, bodyMaxBytes(request, clientInterface));
  const bodyBytes = bytes.length;
  const allocationOf = (body: BodyText, formBytes: number): BodyAllocation => {
    if (body.kind === 'unreadable') allocation.keepOnly(0);
    const size = body.kind === 'unreadable' ? noRequest : sizeOfRequest(body.json, formBytes);
    return openBodyAllocation(allocation, taking, () => size);
  };
  if (boundary !== undefined && formFields !== undefined) {
    const body = await readForm(bytes, { ...clientInterface, formFields, boundary });
    if ('form' in body) await clientInterface.measureForm?.(body.form);
    return { body, bodyBytes, allocation: allocationOf(body, bodyBytes) };
  }
  const body = readRequestBody(bytes, clientInterface);
  freeBytes(bytes);
  return { body, bodyBytes, allocation: allocationOf(body, 0) };
}
