// One round to the store: everything a plain call takes before its provider is called goes out at once.
import { openBill } from '../../../shared/billing/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { uuidv7 } from '../../../shared/ids/index.ts';
import type { Deadline } from '../../../shared/time/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedCall, IdentifiedCall, ReadyAnswer, RoutedCall } from '../stages.ts';
import { claimBudgets } from './claim-budgets.ts';
import { claimCached } from './claim-cached.ts';
import { claimCredit } from './claim-credit.ts';
import { claimSlot } from './claim-slot.ts';
import { nothingClaimed, startCommonClaims } from './common-claims.ts';
import { workspaceHold } from './holds-of-call.ts';
import { newEnding } from './new-ending.ts';
import { weighClaims } from './weigh-claims.ts';

/** `routed` may be a refusal: what stands before it in contract 5 still wins, a stored answer included. */
export async function claimCall(
  deps: ChatDependencies,
  call: IdentifiedCall,
  routed: RoutedCall | GatewayError,
  admission: Deadline,
): Promise<ClaimedCall | ReadyAnswer> {
  const owner = uuidv7(deps.randomness, deps.clock.nowMs());
  const claims = startClaims(deps, call, routed, owner);
  const ready = await weighClaims(deps, call, claims, admission);
  if (ready !== undefined) return ready;
  if (routed instanceof GatewayError) throw routed;
  const [key, credit, budgets, cached, slot] = await Promise.all([
    claims.key,
    claims.credit,
    claims.budgets,
    claims.cached,
    claims.slot,
  ]);
  return {
    ...routed,
    plan: budgets.plan,
    owner,
    keyHold: key.hold,
    creditHold: credit.hold,
    otherHolds: budgets.holds,
    ownsIdempotencyKey: call.idempotencyKey !== undefined,
    cache: cached.use,
    firstTurn: slot.turn,
    bill: openBill(),
    ending: newEnding(),
  };
}

function startClaims(deps: ChatDependencies, call: IdentifiedCall, routed: RoutedCall | GatewayError, owner: string) {
  const plan = routed instanceof GatewayError ? undefined : routed;
  const hold = plan && workspaceHold(plan, owner);
  return {
    ...startCommonClaims(deps, call, owner, hold, routed),
    cached: plan ? claimCached(deps, plan, owner) : Promise.resolve({ ...nothingClaimed, use: undefined }),
    credit: claimCredit(deps, call.workspace, hold),
    budgets: plan
      ? claimBudgets(deps, plan, owner)
      : Promise.resolve({ ...nothingClaimed, plan: [] as never, holds: [] }),
    slot: plan ? claimSlot(deps, plan) : Promise.resolve({ ...nothingClaimed, turn: undefined }),
  };
}
