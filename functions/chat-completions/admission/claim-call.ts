// One round to the store: everything a plain call takes before its provider is called goes out at once, unless it is in
// doubt whether the call runs.

import { GatewayError } from '../../../shared/errors/index.ts';
import { uuidv7 } from '../../../shared/foundation/ids/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedCall, IdentifiedCall, ReadyAnswer, RoutedCall } from '../stages.ts';
import { type BudgetsClaim, claimBudgets } from './claim-budgets.ts';
import { type CachedClaim, claimCached } from './claim-cached.ts';
import { claimSlot, type SlotClaim } from './claim-slot.ts';
import { type CommonWish, nothingClaimed, startCommonClaims } from './common-claims.ts';
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
  const claims = startClaims(deps, call, routed, { owner, admission });
  const ready = await weighClaims(deps, call, claims, admission);
  if (ready !== undefined) return ready;
  if (routed instanceof GatewayError) throw routed;
  const [key, spend, credit, budgets, cached, slot] = await Promise.all([
    claims.key,
    claims.spend,
    claims.credit,
    claims.budgets,
    claims.cached,
    claims.slot,
  ]);
  return {
    ...routed,
    plan: budgets.plan,
    owner,
    keyHold: key.hold ?? spend.hold,
    creditHold: credit.hold,
    otherHolds: budgets.holds,
    ownsIdempotencyKey: call.idempotencyKey !== undefined,
    cache: cached.use,
    firstTurn: slot.turn,
    bill: openBill(),
    ending: newEnding(),
  };
}

function startClaims(
  deps: ChatDependencies,
  call: IdentifiedCall,
  routed: RoutedCall | GatewayError,
  { owner, admission }: Pick<CommonWish, 'owner' | 'admission'>,
) {
  const plan = routed instanceof GatewayError ? undefined : routed;
  const cached = plan ? claimCached(deps, plan, owner) : Promise.resolve(noCache);
  const { claims, whenItRuns } = startCommonClaims(deps, call, {
    owner,
    hold: plan && workspaceHold(plan, owner),
    planned: routed,
    cached: plan?.request.cache === undefined ? undefined : cached,
    admission,
  });
  return {
    ...claims,
    cached,
    budgets: whenItRuns(noBudgets, async () => (plan ? claimBudgets(deps, plan, owner) : noBudgets)),
    slot: whenItRuns(noSlot, async () => (plan ? claimSlot(deps, plan) : noSlot)),
  };
}

const noCache: CachedClaim = nothingClaimed;
const noBudgets: BudgetsClaim = { ...nothingClaimed, plan: [] as never, holds: [] };
const noSlot: SlotClaim = nothingClaimed;
