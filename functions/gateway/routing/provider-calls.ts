// What the provider loop is to know of a call.
import type { TimeBudget } from '../../../shared/foundation/time/index.ts';
import type { Payment, ProviderCall, ProviderRequest } from '../provider-call.ts';
import type { AdmittedCall, AdmittedPlain } from '../stages.ts';

/** The rest is the same for every provider call of a request. */
interface OwnOfCall {
  readonly request: Omit<ProviderRequest, 'clientInterface' | 'passedOn' | 'schemaWork'>;
  readonly payment: Omit<Payment, 'workspace' | 'bill'>;
  readonly keptBody?: ProviderCall['keptBody'];
  readonly stopped: AbortSignal | undefined;
  readonly admissionTime: TimeBudget;
}

export const providerCallOf = (
  { scope, clientInterface, passedOn, schemaWork, workspace, bill, deadline, streamDeadline, catalogue }: AdmittedCall,
  { request, payment, keptBody, stopped, admissionTime }: OwnOfCall,
): ProviderCall => ({
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
  times: { admissionTime, deadline, streamDeadline, queueMs: catalogue.service.queue_ms },
});

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
