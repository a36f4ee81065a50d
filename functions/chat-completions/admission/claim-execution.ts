// The claims of a function call: no cache and no provider's slot, but a slot of the workspace and of the service.

import { GatewayError } from '../../../shared/errors/index.ts';
import { leaseMs } from '../../../shared/foundation/constants/index.ts';
import { uuidv7 } from '../../../shared/foundation/ids/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedExecution, Execution, IdentifiedCall, ReadyAnswer } from '../stages.ts';
import { type CapacityClaim, claimCapacity } from './claim-capacity.ts';
import { type CommonWish, startCommonClaims } from './common-claims.ts';
import { newEnding } from './new-ending.ts';
import { untilDone } from './until-done.ts';
import { weighClaims } from './weigh-claims.ts';

/** A function call that runs. */
export interface StartedExecution extends ClaimedExecution {
  /** Frees its slots, once, however often it is asked. */
  readonly giveSlotsBack: () => Promise<void>;
}

export async function claimExecution(
  deps: ChatDependencies,
  call: IdentifiedCall,
  execution: Execution | GatewayError,
  admission: Deadline,
): Promise<StartedExecution | ReadyAnswer> {
  // Execution ids are UUIDv7 (contract 1).
  const owner = uuidv7(deps.randomness, deps.clock.nowMs());
  const claims = startClaims(deps, call, execution, { owner, admission });
  const ready = await weighClaims(deps, call, claims, admission);
  if (ready !== undefined) return ready;
  if (execution instanceof GatewayError) throw execution;
  const [key, spend, credit, capacity] = await Promise.all([claims.key, claims.spend, claims.credit, claims.capacity]);
  const giveSlotsBack = onceDone(capacity.giveBack);
  call.scope.afterwards.add(() => untilDone(deps.clock, giveSlotsBack));
  return {
    ...call,
    execution,
    owner,
    keyHold: key.hold ?? spend.hold,
    creditHold: credit.hold,
    otherHolds: [],
    giveSlotsBack,
    ownsIdempotencyKey: call.idempotencyKey !== undefined,
    bill: openBill(),
    ending: newEnding(),
  };
}

function startClaims(
  deps: ChatDependencies,
  call: IdentifiedCall,
  execution: Execution | GatewayError,
  { owner, admission }: Pick<CommonWish, 'owner' | 'admission'>,
) {
  const opened = execution instanceof GatewayError ? undefined : execution;
  const amount = opened?.worstCase ?? 0n;
  const hold = amount === 0n ? undefined : { owner, amount, expiresAtMs: call.arrivedAtMs + leaseMs };
  const { claims, whenItRuns } = startCommonClaims(deps, call, { owner, hold, planned: execution, admission });
  return {
    ...claims,
    capacity: whenItRuns(noCapacity, async () =>
      opened === undefined ? noCapacity : claimCapacity(deps, call, owner),
    ),
  };
}

const noCapacity: CapacityClaim = { verdict: undefined };

/** Where it throws, whoever asks next tries again. */
function onceDone(giveBack: () => Promise<void> = async () => {}): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    await giveBack();
    isDone = true;
  };
}
