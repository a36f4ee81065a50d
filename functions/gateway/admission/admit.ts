// Admission: reserves everything that a call needs before a provider is called. As a rule it is one round to the store.
import type { GatewayError } from '../../../shared/errors/index.ts';
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import { openBill } from '../../../shared/routing/billing/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { AdmittedCall, IdentifiedCall, ReadyAnswer } from '../stages.ts';
import { createCallNames } from './call-names.ts';
import { reserveAll } from './reservation.ts';
import { type Planned, reservationsOf } from './reservations.ts';

/** Throws the error that wins. */
export async function admit(
  deps: ChatDependencies,
  call: IdentifiedCall,
  planned: Planned | GatewayError,
  admissionTime: TimeBudget,
): Promise<AdmittedCall | { readonly ready: ReadyAnswer }> {
  const { clock } = deps;
  // Execution ids are UUIDv7, and the id of the request is one.
  const owner = call.scope.correlationId;
  const names = createCallNames(deps, call, owner);
  const rounds = reservationsOf(deps, call, planned, { owner, names });
  const reserved = await reserveAll(rounds, { clock, deferred: call.scope.deferred, admissionTime });
  return 'ready' in reserved
    ? reserved
    : { ...call, owner, names, admissionTime, holdings: reserved.holdings, bill: openBill() };
}
