// Admission: reserves everything that a call needs before a provider is called. As a rule it is one round to the store.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, IdentifiedCall, RoutedCall } from '../stages.ts';
import { createCallClaims } from './call-names.ts';
import { refuseModels } from './key-models.ts';
import { type FoundReady, type ReserveContext, reserveAll, reserveRefused } from './reservation.ts';
import { type PlannedCall, reservationsOf, reservationsOfRefused } from './reservations.ts';

type Admitted<Planned> = Planned & Omit<AdmittedCall, keyof IdentifiedCall>;

/**
 * Returns the admitted call, or a ready answer; throws the error that wins. A call without a plan is never admitted:
 * its refusal is thrown, unless an answer is stored for it or an earlier error wins. Candidates without budget are
 * removed from the plan.
 */
export async function admit<Planned extends PlannedCall>(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  planned: Planned | GatewayError,
  admissionTime: TimeBudget,
): Promise<Admitted<Planned> | FoundReady> {
  const routed = routedOf(planned);
  const context: ReserveContext = {
    clock: deps.clock,
    deferred: call.scope.deferred,
    admissionTime,
    refuseModels: (key, ready) => refuseModels(call, routed, key, ready),
  };
  // Execution ids are UUIDv7, and the id of the request is one.
  const owner = call.scope.correlationId;
  if (planned instanceof GatewayError) {
    return reserveRefused(reservationsOfRefused(deps, call, owner), planned, context);
  }
  const claims = createCallClaims(deps, call, owner);
  const reserved = await reserveAll(reservationsOf(deps, planned, { owner, claims }), context);
  if ('ready' in reserved) return reserved;
  const { holdings, plan, key = call.key } = reserved;
  const left: Planned = plan === undefined ? { ...planned, key } : { ...planned, key, plan };
  return { ...left, owner, claims, admissionTime, holdings, bill: openBill() };
}

const routedOf = (planned: PlannedCall | GatewayError): RoutedCall | undefined =>
  planned instanceof GatewayError || !('plan' in planned) ? undefined : planned;
