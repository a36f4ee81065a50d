// The stages of a chat completion. Each hands the next a bigger value and fails by throwing `fail(code)`; the router turns
// that into the envelope. What is reserved is settled after the last byte, however the call ends.

import { type Deadline, within } from '../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../shared/protocol/http/index.ts';
import { type Endpoint, toGatewayError } from '../../shared/protocol/router/index.ts';
import { claimCall } from './admission/claim-call.ts';
import { claimExecution } from './admission/claim-execution.ts';
import { identify } from './admission/identify.ts';
import { admissionTookTooLong } from './admission/weigh-claims.ts';
import type { ChatDependencies } from './dependencies.ts';
import { provide } from './provider/provide.ts';
import { receive } from './receive/receive.ts';
import { respond } from './response/respond.ts';
import { respondReady } from './response/respond-ready.ts';
import { route } from './routing/route.ts';
import { recordAfterwards, settleAfterwards, settleStreamAfterwards } from './settlement/settle.ts';
import { releaseNames } from './settlement/settle-claims.ts';
import type { Claimed, ClaimedCall, IdentifiedCall, ReadyAnswer } from './stages.ts';
import { execute } from './stored-function/execute.ts';
import { openExecution } from './stored-function/open-execution.ts';

export const serveChatCompletion =
  (deps: ChatDependencies): Endpoint =>
  async (request, scope) => {
    const received = await receive(deps.clock, request, scope);
    const { call, admission } = await identify(deps, received);
    return call.asksFunction ? serveFunction(deps, call, admission) : servePlain(deps, call, admission);
  };

async function servePlain(deps: ChatDependencies, call: IdentifiedCall, admission: Deadline): Promise<GatewayResponse> {
  const routed = await route(deps, call);
  const claimed = await claimCall(deps, call, routed, admission);
  if ('kind' in claimed) return ready(deps, call, claimed);
  return settled(deps, claimed, () => answer(deps, claimed));
}

async function answer(deps: ChatDependencies, call: ClaimedCall): Promise<GatewayResponse> {
  const provided = await provide(deps, call);
  const chargeStream = provided.success.kind === 'stream' ? settleStreamAfterwards(deps, call, provided) : () => {};
  return respond(deps, call, provided, { chargeStream, releaseNames: () => releaseNames(deps, call) });
}

async function serveFunction(
  deps: ChatDependencies,
  call: IdentifiedCall,
  admission: Deadline,
): Promise<GatewayResponse> {
  const opened = await within(deps.clock, admission.remainingMs(), openExecution(deps, call), admissionTookTooLong);
  const claimed = await claimExecution(deps, call, opened, admission);
  if ('kind' in claimed) return ready(deps, call, claimed);
  return settled(deps, claimed, () => execute(deps, claimed));
}

/** An answer that is there already. Only one from the cache is new under its Idempotency-Key and to the records. */
async function ready(deps: ChatDependencies, call: IdentifiedCall, answer: ReadyAnswer): Promise<GatewayResponse> {
  if (answer.kind === 'cached') recordAfterwards(deps, answer);
  return respondReady(deps, call, answer);
}

/** From here on a fault anywhere still settles. */
async function settled(
  deps: ChatDependencies,
  claimed: Claimed,
  serve: () => Promise<GatewayResponse>,
): Promise<GatewayResponse> {
  settleAfterwards(deps, claimed);
  try {
    return await serve();
  } catch (error) {
    claimed.ending.errorCode = toGatewayError(error).code;
    // What this fails to do is done again afterwards.
    await releaseNames(deps, claimed).catch(() => {});
    throw error;
  }
}
