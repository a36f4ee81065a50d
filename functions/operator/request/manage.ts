// Serves one request of the management interface. Identifies the operator, checks the request, and answers. A change is
// written into the log line of its request, with the operator's name.

import type * as z from 'zod/mini';
import type { Role } from '../../../shared/configuration/access/index.ts';
import { ChangeFailed, type ChangeFailure } from '../../../shared/configuration/administration/index.ts';
import { refuseWhilePaused } from '../../../shared/configuration/catalogue/index.ts';
import {
  type AnswerOf,
  type ManagementRoute,
  managementRoutes,
  type NamesOf,
  namesIn,
  type ReadBody,
  type ReadQuery,
  type RouteName,
} from '../../../shared/configuration/management/index.ts';
import { type ErrorCode, fail, okStatus } from '../../../shared/errors/index.ts';
import { type GatewayRequest, readPlainBody } from '../../../shared/protocol/http/index.ts';
import { type RequestAllocation, readWeight } from '../../../shared/protocol/memory-budget/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope } from '../../../shared/protocol/router/index.ts';
import { checkMembers, readUnambiguousBody } from '../../../shared/protocol/wire/index.ts';
import type { ManagementDependencies, OperatorDependencies } from '../dependencies.ts';
import { requireInAll, requireRole, requireSomewhere } from './allowed.ts';
import { identifyOperator, type Operator } from './identify-operator.ts';

export interface ManageRequest<Name extends RouteName> extends CheckedRequest<Name> {
  readonly operator: Operator;
  readonly headers: GatewayRequest['headers'];
  /** Called after a change: `what` happened to `target`. Both texts are safe to log. */
  tellChange(what: string, target: string): void;
}

/** An answer that is not JSON. */
export class TextAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;

  constructor(headers: Readonly<Record<string, string>>, text: string) {
    this.headers = headers;
    this.text = text;
  }
}

/** Throws a GatewayError or a ChangeFailed. */
export type RouteWork<Name extends RouteName> = (
  deps: ManagementDependencies,
  request: ManageRequest<Name>,
) => Promise<AnswerOf<Name> | TextAnswer>;
export type Works = { readonly [Name in RouteName]: RouteWork<Name> };

export const manage =
  <Name extends RouteName>(deps: OperatorDependencies, name: Name, work: RouteWork<Name>): Endpoint =>
  async (http, scope) => {
    const operator = await identifyOperator(deps, http, scope);
    const { pathParameters, memory } = scope;
    requireRoleOf(managementRoutes[name], operator, pathParameters);
    // Reads include every answered call, so they wait for settlements. A change does not wait.
    if (http.method === 'GET') await scope.earlierSettled();
    else refuseWhilePaused(await deps.catalogues.readPointer());
    const reader = { allocation: memory.openRequest(), operator: operator.id, gone: scope.clientGone };
    const input = await readRequest(name, pathParameters, http, reader);
    const request = { ...input, operator, headers: http.headers, tellChange: tellChangeIn(scope) };
    const body = await work(deps, request).catch((error: unknown) => {
      throw toClientError(error);
    });
    if (body instanceof TextAnswer) return { status: okStatus, headers: body.headers, body: body.text };
    return { status: okStatus, headers: jsonHeaders, body: JSON.stringify(body) };
  };

function requireRoleOf(
  { role: needed }: ManagementRoute,
  operator: Operator,
  [workspace = '']: readonly string[],
): void {
  const [role, place] = needed.split(/ (.+)/) as [Role, string | undefined];
  if (place === 'of all') requireInAll(operator, role);
  else if (place === undefined) requireSomewhere(operator, role);
  else requireRole(operator, role, workspace, `there is no workspace ${workspace}`);
}

const tellChangeIn =
  ({ details }: RequestScope): ManageRequest<RouteName>['tellChange'] =>
  (what, target) => {
    details.change = { what, target };
  };

// Converts the failure of a change into the client's error.
const codes = {
  absent: 'not_found',
  taken: 'invalid_request',
  invalid: 'invalid_request',
  conflict: 'idempotency_conflict',
  insufficient: 'PAYMENT_REQUIRED',
  forbidden: 'forbidden',
  unanswered: 'RATE_LIMITER_UNAVAILABLE',
} as const satisfies Record<ChangeFailure, ErrorCode>;

const unanswered =
  'The store gave no answer: the change may have been made. Look at what is stored, or repeat it; a credit with the same id is added once.';

/** Converts a failed change; any other error stays as it is. */
function toClientError(error: unknown): unknown {
  if (!(error instanceof ChangeFailed)) return error;
  const { failure, message, param = failure === 'taken' ? 'name' : undefined } = error;
  if (failure === 'unanswered') return fail(codes.unanswered, { message: unanswered, cause: error });
  const isNamed = param === undefined || message.startsWith(param);
  return fail(codes[failure], { message: isNamed ? message : `${param}: ${message}`, param });
}

// Maximum number of targets of a change that the log line of its request names. The number of the other targets
// follows.
const namesInLine = 20;

export const namesOf = (changed: readonly string[]): string =>
  changed.length <= namesInLine
    ? changed.join(', ')
    : `${changed.slice(0, namesInLine).join(', ')} and ${changed.length - namesInLine} more`;

// Checks the query and the body of a request, as its route declares, before anything is read or changed. An unknown
// name is refused, because a request without that filter would show, or change, something else.

/** The checked inputs of a request. */
interface CheckedRequest<Name extends RouteName> {
  /** The values in the path by their names, as they were sent. */
  readonly names: { readonly [One in NamesOf<Name>]: string };
  readonly query: ReadQuery<Name>;
  readonly body: ReadBody<Name>;
}

/** Throws request_too_large, or invalid_request with the name of the parameter or the path of the field. */
async function readRequest<Name extends RouteName>(
  name: Name,
  pathParameters: readonly string[],
  http: GatewayRequest,
  reader: BodyReader,
): Promise<CheckedRequest<Name>> {
  const { query, body, bodyMaxBytes }: ManagementRoute = managementRoutes[name];
  const names = Object.fromEntries(namesIn(name).map((one, at) => [one, pathParameters[at] ?? '']));
  return {
    names,
    query: query && readQuery(http.query, query),
    body:
      body === 'gateway file'
        ? async () => (await readBytes(http, reader, bodyMaxBytes)).toString('utf8')
        : body && checkBody(await readBytes(http, reader, bodyMaxBytes), body),
  } as CheckedRequest<Name>;
}

function readQuery(query: string, schema: z.ZodMiniObject) {
  const parameters = [...new URLSearchParams(query)];
  const twice = parameters.find(([name], at) => parameters.findIndex(([other]) => other === name) !== at)?.[0];
  if (twice !== undefined) {
    throw fail('invalid_request', { message: 'a parameter of the query is sent twice', param: twice.slice(0, 64) });
  }
  return checkMembers(schema, Object.fromEntries(parameters), { faultsShown });
}

/** Maximum number of faults of one request that are listed. */
const faultsShown = 20;

/** Default bound of a body, enough for most changes. */
const bodyMaxBytesDefault = 64 * 1024;

/** The reader of a body, and its memory. */
interface BodyReader {
  readonly allocation: RequestAllocation;
  /** The operator's id, which queues for memory use instead of a workspace. */
  readonly operator: string;
  readonly gone: AbortSignal;
}

async function readBytes(
  http: GatewayRequest,
  { operator, ...reader }: BodyReader,
  maxBytes = bodyMaxBytesDefault,
): Promise<Buffer> {
  if (http.declaredBodyBytes > maxBytes) throw tooLarge(maxBytes);
  const bytes = await readPlainBody(http, { ...reader, workspace: operator, weight: readWeight });
  if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}

function checkBody(bytes: Buffer, schema: z.ZodMiniObject) {
  const body = readUnambiguousBody(bytes);
  if (body.kind === 'unreadable') throw body.error;
  return checkMembers(schema, body.value, { faultsShown });
}

const tooLarge = (maxBytes: number) =>
  fail('request_too_large', { message: `The body is too large: at most ${maxBytes / 1024} KiB here.` });
