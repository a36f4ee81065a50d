// The claims of a function call: no cache and no provider's slot, but a slot of the workspace and of the service.
import { openBill } from '../../../shared/billing/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { uuidv7 } from '../../../shared/ids/index.ts';
import { leaseMs } from '../../../shared/names/index.ts';
import type { Deadline } from '../../../shared/time/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedExecution, Execution, IdentifiedCall, ReadyAnswer } from '../stages.ts';
import { type CapacityClaim, claimCapacity } from './claim-capacity.ts';
import { type CreditClaim, claimCredit } from './claim-credit.ts';
import type { KeyClaim } from './claim-key.ts';
import { claimSpend } from './claim-spend.ts';
import { nothingClaimed, startCommonClaims } from './common-claims.ts';
import { doubtsOf, inTurn } from './in-turn.ts';
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
  const claims = startClaims(deps, call, execution, owner);
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

function startClaims(deps: ChatDependencies, call: IdentifiedCall, execution: Execution | GatewayError, owner: string) {
  const opened = execution instanceof GatewayError ? undefined : execution;
  const amount = opened?.worstCase ?? 0n;
  const hold = amount === 0n ? undefined : { owner, amount, expiresAtMs: call.arrivedAtMs + leaseMs };
  const { runs, pays } = doubtsOf(deps, call, false);
  const isInDoubt = runs || pays;
  const common = startCommonClaims(deps, call, owner, isInDoubt ? undefined : hold, execution);
  const names = Object.values(common);
  const later = { ...call, hold: isInDoubt ? hold : undefined };
  const spend = inTurn(isInDoubt, names, nothingClaimed as KeyClaim, () => claimSpend(deps, later));
  const beforeCredit = pays ? [...names, spend] : names;
  const credit = inTurn(isInDoubt, beforeCredit, nothingClaimed as CreditClaim, () =>
    claimCredit(deps, call.workspace, hold),
  );
  const beforeCapacity = pays ? [...names, spend, credit] : names;
  const capacity = inTurn<CapacityClaim>(isInDoubt, beforeCapacity, noCapacity, async () =>
    opened === undefined ? noCapacity : claimCapacity(deps, call, owner),
  );
  return { ...common, spend, credit, capacity };
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
