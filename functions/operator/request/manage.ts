// One request of the management interface: who asks, what is asked, the answer. A change is told in the line of its request, with
// the operator's name.
import type { Role } from '../../../shared/configuration/access/index.ts';
import { ChangeFailed, type ChangeFailure } from '../../../shared/configuration/administration/index.ts';
import { refuseWhilePaused } from '../../../shared/configuration/catalogue/index.ts';
import { type ErrorCode, fail, okStatus } from '../../../shared/errors/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope } from '../../../shared/protocol/router/index.ts';
import type { OperatorDependencies } from '../dependencies.ts';
import { requireInAll, requireRole, requireSomewhere } from './allowed.ts';
import { identifyOperator, type Operator } from './identify-operator.ts';

export interface ManageRequest {
  readonly operator: Operator;
  readonly query: string;
  readonly pathParameters: readonly string[];
  readonly http: GatewayRequest;
  readonly memory: CallMemory;
  /** Called once a change is made: `what` happened to `target`, both fit for the log. */
  tellChange(what: string, target: string): void;
}

/** An answer that is no JSON. */
export class TextAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;

  constructor(headers: Readonly<Record<string, string>>, text: string) {
    this.headers = headers;
    this.text = text;
  }
}

/** The body of the answer. Throws a GatewayError or a ChangeFailed. */
export type Work = (deps: OperatorDependencies, request: ManageRequest) => Promise<object>;

/**
 * The role without which a route does nothing, asked before anything of the request is read. `path`: in the workspace that the path
 * names first; `some`: in any, and the work itself says in which; `all`: in all of them.
 */
export interface Need {
  readonly role: Role;
  readonly in: 'path' | 'some' | 'all';
}

export const manage =
  (deps: OperatorDependencies, need: Need, work: Work): Endpoint =>
  async (http, scope) => {
    const operator = await identifyOperator(deps, http, scope);
    requireNeed(operator, need, scope.pathParameters);
    // What is shown holds the calls that have their answer; a change waits for none.
    if (http.method === 'GET') await scope.earlierSettled();
    else refuseWhilePaused(await deps.catalogues.readPointer());
    const { query } = http;
    const { pathParameters, memory } = scope;
    memory.nameKey(operator.id);
    const asked = { operator, query, pathParameters, http, memory, tellChange: tellChangeIn(scope) };
    const body = await work(deps, asked).catch((error: unknown) => {
      throw toClientError(error);
    });
    if (body instanceof TextAnswer) return { status: okStatus, headers: body.headers, body: body.text };
    return { status: okStatus, headers: jsonHeaders, body: JSON.stringify(body) };
  };

function requireNeed(operator: Operator, need: Need, [workspace = '']: readonly string[]): void {
  if (need.in === 'all') requireInAll(operator, need.role);
  else if (need.in === 'some') requireSomewhere(operator, need.role);
  else requireRole(operator, need.role, workspace, `there is no workspace ${workspace}`);
}

const tellChangeIn =
  ({ logContext }: RequestScope): ManageRequest['tellChange'] =>
  (change, change_target) => {
    logContext.fields = { ...logContext.fields, change, change_target };
  };

// A change that was not made, as its client sees it.
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

/** Any other error as it is. */
function toClientError(error: unknown): unknown {
  if (!(error instanceof ChangeFailed)) return error;
  const { failure, message, param = failure === 'taken' ? 'name' : undefined } = error;
  if (failure === 'unanswered') return fail(codes.unanswered, { message: unanswered, cause: error });
  return fail(codes[failure], { message, param });
}

// What a change was made to, in the log line of its request: the first names, and how many more.
const namesInLine = 20;

export const namesOf = (changed: readonly string[]): string =>
  changed.length <= namesInLine
    ? changed.join(', ')
    : `${changed.slice(0, namesInLine).join(', ')} and ${changed.length - namesInLine} more`;
