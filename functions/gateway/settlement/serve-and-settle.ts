// Serves an admitted call, and has it settled after the last byte: also where a fault ends it.
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { toGatewayError } from '../../../shared/protocol/router/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, EndedCall, Served } from '../stages.ts';
import { namesEndOf, settle } from './settle.ts';

export async function serveAndSettle<Admitted extends AdmittedCall>(
  deps: GatewayDependencies,
  call: Admitted,
  serve: (deps: GatewayDependencies, call: Admitted) => Promise<Served>,
): Promise<GatewayResponse> {
  const unusedPermit = call.holdings.firstCandidate?.permit;
  const notRun = { attempts: [], attemptCount: 0, queuedMs: 0, upstreamMs: 0, firstOutputAtMs: undefined };
  const served = await serve(deps, call).catch((error: unknown) => failed({ ...notRun, unusedPermit }, error));
  call.scope.deferred.add(() => settle(deps, call, served.end()));
  if (served.response !== undefined) return served.response;
  // Before the client knows, because its retry may come at once. What fails here is done again by settlement.
  await call.names.release(namesEndOf(served.end())).catch(() => {});
  throw served.error;
}

export const failed = (run: EndedCall['run'], error: unknown): Served => ({
  response: undefined,
  error,
  end: () => ({ run, error: toGatewayError(error), stream: undefined, writeCache: undefined }),
});
