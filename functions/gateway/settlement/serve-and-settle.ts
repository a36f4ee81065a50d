// Serves an admitted call, and has it settled after the last byte: also where a fault ends it.
import { okStatus } from '../../../shared/errors/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { streamHeaders, toGatewayError } from '../../../shared/protocol/router/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, EndedCall, ServedCall } from '../stages.ts';
import { claimsEndOf, settle } from './settle.ts';
import { openCallHolds } from './settle-holds.ts';

export async function serveAndSettle<Admitted extends AdmittedCall>(
  deps: GatewayDependencies,
  admitted: Admitted,
  serve: (deps: GatewayDependencies, call: Admitted) => Promise<ServedCall>,
): Promise<GatewayResponse> {
  const holds = openCallHolds(deps, admitted);
  const call = { ...admitted, freeSlots: holds.freeSlots };
  const unusedPermit = call.holdings.firstCandidate?.permit;
  const notRun = { attempts: [], attemptCount: 0, queuedMs: 0, upstreamMs: 0, firstOutputAtMs: undefined };
  const served = await serve(deps, call).catch((error: unknown) => failed({ ...notRun, unusedPermit }, error));
  if (served.response !== undefined) {
    call.scope.deferred.add(() => settle(deps, call, holds, served.end()));
    return served.response;
  }
  const { ended } = served;
  call.scope.deferred.add(() => settle(deps, call, holds, ended));
  // Before the client knows, because its retry may come at once. What fails here is done again by settlement.
  await Promise.all([call.claims.release(claimsEndOf(ended)).catch(() => {}), call.freeSlots?.()]);
  return toldInStream(deps, call, served.error);
}

/** Throws the error, unless clients of the interface are to find it in a stream. */
async function toldInStream(
  { clock }: GatewayDependencies,
  { request, owner }: AdmittedCall,
  error: unknown,
): Promise<GatewayResponse> {
  const answer = { id: owner, createdSeconds: Math.floor(clock.nowMs() / 1_000) };
  const body = await request.refusedStream?.(toGatewayError(error), answer);
  if (body === undefined) throw error;
  return { status: okStatus, headers: streamHeaders, body };
}

export const failed = (run: EndedCall['run'], error: unknown): ServedCall => ({
  response: undefined,
  error,
  ended: { run, error: toGatewayError(error), stream: undefined, writeCache: undefined },
});
