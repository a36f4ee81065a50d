// One request of the management interface: who asks, what is asked, the answer. A change is told in the line of its request, with
// the operator's name.
import type { Role } from '../../../shared/configuration/access/index.ts';
import { refuseWhileRestored } from '../../../shared/configuration/catalogue/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope } from '../../../shared/protocol/router/index.ts';
import type { OperatorDependencies } from '../dependencies.ts';
import { requireInAll, requireRole, requireSomewhere } from './allowed.ts';
import { identifyOperator, type Operator } from './identify-operator.ts';
import { toClientError } from './refused-change.ts';

export interface ManageRequest {
  readonly operator: Operator;
  readonly query: string;
  readonly pathParameters: readonly string[];
  readonly http: GatewayRequest;
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
    else refuseWhileRestored(await deps.catalogues.readPointer());
    const { query } = http;
    const { pathParameters } = scope;
    const asked = { operator, query, pathParameters, http, tellChange: tellChangeIn(scope) };
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
