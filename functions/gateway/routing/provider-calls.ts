// Inputs of the provider loop for a call.
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import {
  createEnvelopes,
  type Envelopes,
  noEnvelopes,
  type RoutedRequest,
} from '../../../shared/protocol/wire/index.ts';
import { chooseFormat } from '../../../shared/routing/formats/index.ts';
import type { Plan } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Payment, ProviderCall, ProviderRequest } from '../provider-call.ts';
import type { AdmittedCall, AdmittedPlain } from '../stages.ts';

/** The rest is the same for every provider call of a request. */
interface ProviderCallParts {
  readonly request: Omit<ProviderRequest, 'clientInterface' | 'passedOn' | 'schemaWork'>;
  readonly payment: Omit<Payment, 'workspace' | 'bill'>;
  readonly keptBody?: ProviderCall['keptBody'];
  readonly stopped: AbortSignal | undefined;
  readonly admissionTime: TimeBudget;
}

export const providerCallOf = (
  call: AdmittedCall,
  { request, payment, keptBody, stopped, admissionTime }: ProviderCallParts,
): ProviderCall => {
  const { scope, clientInterface, passedOn, schemaWork, workspace, bill, content } = call;
  const { deadline, streamDeadline, catalogue } = call;
  return {
    request: { clientInterface, passedOn, schemaWork, ...request },
    payment: { workspace: workspace.id, bill, ...payment },
    signals: {
      correlationId: scope.correlationId,
      traceparent: scope.correlation.traceparent,
      trace: scope.trace,
      clientGone: scope.clientGone,
      stopped,
    },
    memory: scope.memory,
    keptBody,
    content,
    times: { admissionTime, deadline, streamDeadline, queueMs: catalogue.service.queue_ms },
  };
};

export const plainProviderCall = (call: AdmittedPlain): ProviderCall => {
  const { request: asked, size, plan, policy, envelopes, byok, byokKey, connections, holdings } = call;
  const { scope, admissionTime, keptBody } = call;
  const { skipsTruncated } = scope.baseUrlRules;
  return providerCallOf(call, {
    request: { asked, size, plan, zdr: policy.zdr === true, skipsTruncated, envelopes },
    payment: { firstCandidate: holdings.firstCandidate, byok, byokKey, connections },
    keptBody,
    stopped: scope.cut,
    admissionTime,
  });
};

interface SealedCall {
  readonly request: RoutedRequest;
  readonly plan: Plan;
  readonly workspace: { readonly id: string };
  readonly admissionTime: TimeBudget;
}

/** Only what crosses formats has some, and only such a call waits for the key of the store, which a process reads once. */
export async function openEnvelopes(
  { storeKey }: Pick<GatewayDependencies, 'storeKey'>,
  { request, plan, workspace, admissionTime }: SealedCall,
): Promise<Envelopes> {
  const crosses = plan.some((candidate) => chooseFormat(candidate, request)?.kind === 'hub');
  return crosses ? createEnvelopes(await admissionTime.wait(storeKey.read()), workspace.id) : noEnvelopes;
}
