// Idempotency-Key and span of a call that ended. A stored answer keeps its key; every failure leaves nothing, so that the
// same key may run again (contract 7). A span is free again only after a failure that a client may retry.
import { errorCatalogue } from '../../../shared/errors/index.ts';
import { untilDone } from '../admission/until-done.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { Claimed, ClaimedCall } from '../stages.ts';

/** Where a call has failed it is asked for before the client knows: a retry may come back at once. */
export async function releaseNames({ idempotency, spans }: ChatDependencies, call: Claimed): Promise<void> {
  if (call.ending.namesAreSettled) return;
  const { workspace, owner, idempotencyKey: key, ownsIdempotencyKey } = call;
  const { spanId } = call.scope.correlation;
  await Promise.all([
    // Releases a running claim only: one that was completed stays.
    ownsIdempotencyKey && key !== undefined ? idempotency.release({ workspace: workspace.id, key, owner }) : undefined,
    spanId !== undefined && mayBeRetried(call) ? spans.release({ workspace: workspace.id, spanId, owner }) : undefined,
  ]);
  call.ending.namesAreSettled = true;
}

export async function settleClaims(deps: ChatDependencies, call: Claimed): Promise<void> {
  const { permit } = ('firstTurn' in call ? (call as ClaimedCall).firstTurn : undefined) ?? {};
  // A client that left, or a deadline, before the first candidate was called.
  const isUnused = permit !== undefined && call.ending.attempts === 0;
  await Promise.all([
    settleNames(deps, call),
    isUnused ? untilDone(deps.clock, () => deps.limiter.giveBack(permit)) : undefined,
  ]);
}

/** A large answer goes to the blob store first, which may take three seconds to fail: two tries are within the 10 s. */
const storeAnswerTriesMax = 2;

async function settleNames(deps: ChatDependencies, call: Claimed): Promise<void> {
  const { storeAnswer } = call.ending;
  if (storeAnswer !== undefined) {
    await untilDone(deps.clock, storeAnswer, storeAnswerTriesMax).catch((error: unknown) => {
      deps.log.error({ event: 'result_not_stored', correlation_id: call.scope.correlationId }, error);
    });
  }
  await untilDone(deps.clock, () => releaseNames(deps, call));
}

/** What clients' libraries retry by themselves: too many requests, and whatever is not their fault. */
function mayBeRetried({ ending: { errorCode, tally } }: Claimed): boolean {
  if (errorCode !== undefined) return errorCatalogue[errorCode].status >= errorCatalogue.rate_limited.status;
  return tally !== undefined && tally.end !== 'complete';
}
