// Admission: reserves everything that a call needs before a provider is called. As a rule it is one round to the store.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedCall, IdentifiedCall, ReadyAnswer } from '../stages.ts';
import { createCallClaims } from './call-claims.ts';
import { refuseReady } from './key-models.ts';
import { reserveAll, reserveRefused } from './reservation.ts';
import { type PlannedCall, reservationsOf, reservationsOfRefused } from './reservations.ts';

type Admitted<Planned> = Planned & Omit<AdmittedCall, keyof IdentifiedCall>;

/**
 * The admitted call, or an answer that is ready; throws the error that wins. A call that could not be planned is never
 * admitted: its refusal is thrown, unless an answer is stored for it or another error stands before it. Its plan is what is
 * left of the one that was made.
 */
export async function admit<Planned extends PlannedCall>(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  planned: Planned | GatewayError,
  admissionTime: TimeBudget,
): Promise<Admitted<Planned> | Ready> {
  const context = { clock: deps.clock, deferred: call.scope.deferred, admissionTime };
  // Execution ids are UUIDv7, and the id of the request is one.
  const owner = call.scope.correlationId;
  if (planned instanceof GatewayError) {
    return readyFor(call, await reserveRefused(reservationsOfRefused(deps, call, owner), planned, context));
  }
  const claims = createCallClaims(deps, call, owner);
  const reserved = await reserveAll(reservationsOf(deps, planned, { owner, claims }), context);
  if ('ready' in reserved) return readyFor(call, reserved);
  const { holdings, plan } = reserved;
  const left = plan === undefined ? planned : { ...planned, plan };
  return { ...left, owner, claims, admissionTime, holdings, bill: openBill() };
}

interface Ready {
  readonly ready: ReadyAnswer;
}

function readyFor(call: IdentifiedCall, { ready }: Ready): Ready {
  const refusal = refuseReady(call, ready);
  if (refusal !== undefined) throw refusal;
  return { ready };
}
