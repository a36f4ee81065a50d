// Reserves everything that a call needs before a provider is called, usually in one round to the store.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, CallChanges, IdentifiedCall, PlannedCall, RoutedCall } from '../stages.ts';
import { createCallClaims } from './call-names.ts';
import { comesAfterGuardrails, guardrailIdsOf } from './guardrails-of-call.ts';
import { refuseModels } from './key-models.ts';
import { type ExistingResult, type ReserveContext, reserveAll, reserveForRefusedPlan } from './reservation.ts';
import { reservationsOf, reservationsOfRefused } from './reservations.ts';

/**
 * Returns the admitted call, or an answer that exists already; throws the error that takes precedence. A call without a
 * plan is never admitted. The refusal of the call is thrown, unless an answer is stored for the call or another error
 * takes precedence. Candidates without budget are removed from the plan.
 */
export async function admit<Planned extends PlannedCall>(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  planned: Planned | GatewayError,
  admissionTime: TimeBudget,
  { withBody, withPlan }: CallChanges<Planned>,
): Promise<AdmittedCall<Planned> | ExistingResult> {
  const { scope, clientBody } = call.parsed;
  const routed = routedOf(planned);
  const context: ReserveContext = {
    clock: deps.clock,
    deferred: scope.deferred,
    admissionTime,
    refuseModels: (key, existingAnswer) => refuseModels(call, routed, key, existingAnswer),
  };
  // Execution ids are UUIDv7, and so is the id of the request.
  const owner = scope.correlationId;
  const guardrails = guardrailIdsOf(call);
  const guard = guardrails.length === 0 ? undefined : await openGuard(deps, call, guardrails);
  if (planned instanceof GatewayError) {
    const blocked =
      guard && comesAfterGuardrails(planned) ? await guard.checkInput(call.parsed, clientBody) : undefined;
    const refusal = blocked instanceof GatewayError ? blocked : planned;
    return reserveForRefusedPlan(reservationsOfRefused(deps, call, owner), refusal, context);
  }
  const claims = createCallClaims(deps, call, owner);
  let passed: Planned | GatewayError = planned;
  const guarded = guard && {
    guardrails: guard.guardrails,
    async checkInput() {
      const masked = await guard.checkInput(call.parsed, planned.effective);
      if (masked !== undefined) passed = masked instanceof GatewayError ? masked : await withBody(planned, masked);
      return passed;
    },
  };
  const reserved = await reserveAll(reservationsOf(deps, planned, { owner, claims, guarded }), context);
  if ('existingAnswer' in reserved) return reserved;
  if (passed instanceof GatewayError) throw passed;
  const { reservations, plan, key = call.key } = reserved;
  const affordable = plan === undefined ? passed : withPlan(passed, plan);
  return { planned: affordable, key, owner, reservations, claims, guard, admissionTime, bill: openBill() };
}

/** Loads the code of guardrails with the first call that has guardrails, because few calls have any. */
const openGuard = async (deps: GatewayDependencies, call: IdentifiedCall, ids: readonly string[]) =>
  (await import('./check-input.ts')).openCallGuard(deps, call, {
    ids,
    isStream: call.parsed.clientBody.request.stream,
  });

const routedOf = (planned: PlannedCall | GatewayError): RoutedCall | undefined =>
  planned instanceof GatewayError || 'execution' in planned ? undefined : planned;
