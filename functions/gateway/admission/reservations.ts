// What a call reserves, in one round or two.
import type { PicoUsd } from '../../../shared/foundation/money/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, IdentifiedCall, OpenedCall, RoutedCall } from '../stages.ts';
import { findCached } from './find-cached.ts';
import type { Reservation } from './reservation.ts';
import { firstRoundOf } from './reservation-rounds.ts';
import { reserveBudgets } from './reserve-budgets.ts';
import { reserveCandidate } from './reserve-candidate.ts';
import { reserveCapacity } from './reserve-capacity.ts';
import { isUnbounded, reserveCredit } from './reserve-credit.ts';
import { reserveKey, reserveSpend } from './reserve-key.ts';
import { reserveIdempotencyKey, reserveSpan } from './reserve-names.ts';

export type PlannedCall = RoutedCall | OpenedCall;

export function reservationsOf(
  deps: GatewayDependencies,
  call: PlannedCall,
  { owner, names }: Pick<AdmittedCall, 'owner' | 'names'>,
): Reservation[][] {
  const routed = 'plan' in call ? call : undefined;
  const firstRound = firstRoundOf(deps, call, routed?.request.cache !== undefined);
  const amount = holdAmountOf(call);
  const hold = amount === 0n ? undefined : { owner, amount, expiresAtMs: call.arrivedAtMs + deps.times.leaseMs };
  const seen = { keyItem: call.keyItem };
  const key = { ...call, isUnbounded: isUnbounded(call) };
  // The write that counts the request holds its money too, unless a name may still refuse it.
  const holdsWithKey = firstRound !== 'names';
  const named = [
    reserveKey(deps, key, holdsWithKey ? { hold } : { later: hold }, seen),
    ...reserveNames(deps, call, owner),
    routed && findCached(deps, routed, owner, names),
  ];
  const credit = reserveCredit(deps, call, hold);
  const rest = [
    holdsWithKey ? undefined : reserveSpend(deps, key, hold, seen),
    routed && reserveBudgets(deps, routed, owner),
    routed === undefined ? reserveCapacity(deps, call, owner) : undefined,
    routed && reserveCandidate(deps, routed),
  ];
  if (firstRound === 'everything') return [made([...named, credit, ...rest])];
  return firstRound === 'credit' ? [made([...named, credit]), made(rest)] : [made(named), made([credit, ...rest])];
}

/** Without those that the call does not need. */
const made = (reservations: readonly (Reservation | undefined)[]): Reservation[] =>
  reservations.filter((reservation) => reservation !== undefined);

/** Of a call that cannot be planned: its request is counted, and what is stored or in use under its names is found. */
export const reservationsOfRefused = (deps: GatewayDependencies, call: IdentifiedCall, owner: string): Reservation[] =>
  made([
    reserveKey(deps, { ...call, isUnbounded: isUnbounded(call) }, {}, { keyItem: call.keyItem }),
    ...reserveNames(deps, call, owner),
  ]);

const reserveNames = (deps: GatewayDependencies, call: IdentifiedCall, owner: string) => [
  reserveIdempotencyKey(deps, call, owner),
  reserveSpan(deps, call, owner),
];

/** The worst case of the candidates that the workspace's credit pays. 0: the call cannot cost it anything. */
function holdAmountOf(call: PlannedCall): PicoUsd {
  if (!('plan' in call)) return call.execution.worstCase;
  const { size, plan, byok } = call;
  return worstCaseCost(
    plan.filter((candidate) => payerOf(byok, candidate) === 'workspace'),
    size,
  );
}
