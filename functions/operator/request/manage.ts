// One request of the management interface: who asks, what is asked, the answer. A change is told in the line of its request, with
// the operator's name.
import type { OperatorRecord } from '../../../shared/configuration/keys/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import type { GatewayRequest } from '../../../shared/protocol/http/index.ts';
import { type Endpoint, jsonHeaders, type RequestScope } from '../../../shared/protocol/router/index.ts';
import type { OperatorDependencies } from '../dependencies.ts';
import { identifyOperator } from './identify-operator.ts';
import { toClientError } from './refused-change.ts';

export interface ManageRequest {
  readonly operator: OperatorRecord;
  readonly query: string;
  readonly pathParameters: readonly string[];
  readonly http: GatewayRequest;
  /** Called once a change is made: `what` happened to `target`, both fit for the log. */
  tellChange(what: string, target: string): void;
}

/** The body of the answer. Throws a GatewayError or a ChangeFailed. */
export type Work = (deps: OperatorDependencies, request: ManageRequest) => Promise<object>;

export const manage =
  (deps: OperatorDependencies, work: Work): Endpoint =>
  async (http, scope) => {
    const operator = await identifyOperator(deps, http, scope);
    // What is shown holds the calls that have their answer; a change waits for none.
    if (http.method === 'GET') await scope.earlierSettled();
    const { query } = http;
    const { pathParameters } = scope;
    const asked = { operator, query, pathParameters, http, tellChange: tellChangeIn(scope) };
    const body = await work(deps, asked).catch((error: unknown) => {
      throw toClientError(error);
    });
    return { status: okStatus, headers: jsonHeaders, body: JSON.stringify(body) };
  };

const tellChangeIn =
  ({ logContext }: RequestScope): ManageRequest['tellChange'] =>
  (change, change_target) => {
    logContext.fields = { ...logContext.fields, change, change_target };
  };
