// What a call reserves, as one list in the order in which their errors win.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { AdmittedCall, Execution, IdentifiedCall, RoutedCall } from '../stages.ts';
import { findCached } from './find-cached.ts';
import { type Reservation, refused } from './reservation.ts';
import { doubtsOf, inRounds } from './reservation-rounds.ts';
import { reserveBudgets } from './reserve-budgets.ts';
import { reserveCandidate } from './reserve-candidate.ts';
import { reserveCapacity } from './reserve-capacity.ts';
import { isUnbounded, reserveCredit } from './reserve-credit.ts';
import { reserveKey, reserveSpend } from './reserve-key.ts';
import { reserveIdempotencyKey, reserveSpan } from './reserve-names.ts';

/** A planned call, or why it cannot be planned: what stands before that in the order of errors still wins, a stored answer too. */
export type Planned =
  | { readonly kind: 'chat'; readonly routed: RoutedCall }
  | { readonly kind: 'function'; readonly execution: Execution };

export function reservationsOf(
  deps: ChatDependencies,
  call: IdentifiedCall,
  planned: Planned | GatewayError,
  { owner, names }: Pick<AdmittedCall, 'owner' | 'names'>,
): Reservation[][] {
  const routed = !(planned instanceof GatewayError) && planned.kind === 'chat' ? planned.routed : undefined;
  const doubts = doubtsOf(deps, call, routed?.request.cache !== undefined);
  const isOneRound = !doubts.runs && !doubts.pays;
  const amount = holdAmountOf(planned);
  const hold = amount === 0n ? undefined : { owner, amount, expiresAtMs: call.arrivedAtMs + deps.times.leaseMs };
  const seen = { keyItem: call.keyItem };
  const key = { ...call, isUnbounded: isUnbounded(call) };
  const reservations = [
    // In one round the write that counts the request holds its money too.
    reserveKey(deps, key, isOneRound ? hold : undefined, seen),
    reserveIdempotencyKey(deps, call, owner),
    reserveSpan(deps, call, owner),
    planned instanceof GatewayError ? refusedPlan(planned) : undefined,
    routed && findCached(deps, routed, owner, names),
    isOneRound ? undefined : reserveSpend(deps, key, hold, seen),
    reserveCredit(deps, call, hold),
    routed && reserveBudgets(deps, routed, owner),
    !(planned instanceof GatewayError) && planned.kind === 'function' ? reserveCapacity(deps, call, owner) : undefined,
    routed && reserveCandidate(deps, routed),
  ].filter((reservation) => reservation !== undefined);
  return inRounds(reservations, doubts);
}

/** The worst case of the candidates that the workspace's credit pays. 0: the call cannot cost it anything. */
function holdAmountOf(planned: Planned | GatewayError): PicoUsd {
  if (planned instanceof GatewayError) return 0n;
  if (planned.kind === 'function') return planned.execution.worstCase;
  const { size, plan, byok } = planned.routed;
  return worstCaseCost(
    plan.filter((candidate) => payerOf(byok, candidate) === 'workspace'),
    size,
  );
}

const refusedPlan = (error: GatewayError): Reservation => ({
  rank: 'plan',
  order: 'names',
  reserve: async () => refused('plan', error),
});
