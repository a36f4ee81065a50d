// Serves an admitted call, and has it settled after the last byte: also where a fault ends it.
import { creditCounter } from '../../../shared/accounting/credit/index.ts';
import { type Counter, keySlots } from '../../../shared/accounting/holds/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { startDeadline, waitAtMost } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { streamHeaders, toGatewayError } from '../../../shared/protocol/router/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, EndedCall, ServedCall } from '../stages.ts';
import { claimsEndOf, settle } from './settle.ts';
import { settleMoney, settleTokens } from './settle-money.ts';

/** A store that does not answer holds the end of no answer up for longer. */
const freeSlotsMaxMs = 1_000;

export async function serveAndSettle<Admitted extends AdmittedCall>(
  deps: GatewayDependencies,
  admitted: Admitted,
  serve: (deps: GatewayDependencies, call: Admitted) => Promise<ServedCall>,
): Promise<GatewayResponse> {
  const call = { ...admitted, freeSlots: slotsFreer(deps, admitted) };
  const unusedPermit = call.holdings.firstCandidate?.permit;
  const notRun = { attempts: [], attemptCount: 0, queuedMs: 0, upstreamMs: 0, firstOutputAtMs: undefined };
  const served = await serve(deps, call).catch((error: unknown) => failed({ ...notRun, unusedPermit }, error));
  if (served.response !== undefined) {
    call.scope.deferred.add(() => settle(deps, call, served.end()));
    return served.response;
  }
  const { ended } = served;
  call.scope.deferred.add(() => settle(deps, call, ended));
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

/**
 * The slots of key and workspace stand beside their money: the write that settles it frees them. Where few are left it is
 * made before the last byte in place of after it. What fails here is done again by settlement. Undefined: the call has
 * no slots, and counts no tokens.
 */
function slotsFreer(deps: GatewayDependencies, call: AdmittedCall): AdmittedCall['freeSlots'] {
  const { keyHold, creditHold, slots, tokenPermits } = call.holdings;
  const besideMoney = [
    ...(keyHold?.slot === true ? [keySlots(keyHold.publicId, keyHold.slotsMax ?? null)] : []),
    ...(creditHold?.slot === true ? [creditCounter(creditHold.account, creditHold.shard)] : []),
  ];
  if (besideMoney.length === 0 && slots === undefined && tokenPermits === undefined) return undefined;
  const { clock, counters } = deps;
  const isMissedIn = (all: readonly Counter[]) => !all.every((counter) => counters.hasSpareSlots(counter));
  return async () => {
    const deadline = startDeadline(clock, clock.nowMs(), freeSlotsMaxMs);
    const freed = Promise.allSettled([
      isMissedIn(besideMoney) && settleMoney(deps, call, deadline),
      slots !== undefined && isMissedIn(slots.counters()) && slots.giveBack(),
      // Most of what a call holds of its tokens comes back: its client's next call must find them free.
      settleTokens(deps, call, { deadline, isAwaited: true }),
    ]);
    await waitAtMost(clock, freeSlotsMaxMs, freed, () => undefined);
  };
}

export const failed = (run: EndedCall['run'], error: unknown): ServedCall => ({
  response: undefined,
  error,
  ended: { run, error: toGatewayError(error), stream: undefined, writeCache: undefined },
});
