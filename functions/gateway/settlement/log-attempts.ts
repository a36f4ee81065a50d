// Writes one log line for each failed provider call, with the provider's text, for example about a wrong key, a quota
// or an unsupported parameter. The log line is for the operator. Clients get a code of the gateway, and not the
// provider's text.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { attemptMetricSeries } from '../../../shared/foundation/constants/index.ts';
import type { Log } from '../../../shared/foundation/log/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { Attempt } from '../../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import type { PlannedCall, ProviderTerms } from '../stages.ts';

/** True if the provider's text may be logged. Providers quote their input, of which nothing may be stored under zdr. */
export const keepsProviderText = ({ policy }: ProviderTerms): boolean => policy.zdr !== true;

/** Returns the position of the gateway's credential among several; undefined for a client's key. */
export const credentialOf = ({ byok }: ProviderTerms, candidate: Candidate): number | undefined =>
  payerOf(byok, candidate) === 'client' ? undefined : candidate.provider.credential;

export function logFailedAttempts(log: Log, { identified, terms }: PlannedCall, attempts: readonly Attempt[]): void {
  const { parsed, workspace } = identified;
  for (const { candidate, outcome, latencyMs, permit } of attempts) {
    if (outcome === 'ok') continue;
    const provider = candidate.provider.id;
    // A refusal of a client's own key is no information about the provider.
    const isProviders = permit !== undefined && isProviderFailure(outcome);
    log.info(
      {
        event: 'attempt_failed',
        correlation_id: parsed.scope.correlationId,
        workspace_id: workspace.id,
        provider,
        credential: credentialOf(terms, candidate),
        model: candidate.model.id,
        outcome: outcome.cause,
        status: outcome.status,
        reason: reasonOf(outcome),
        message: keepsProviderText(terms) ? outcome.providerText?.forOperator : undefined,
        provider_ms: latencyMs,
      },
      {
        dimensions: { provider },
        series: attemptMetricSeries,
        values: { FailedAttempts: { unit: 'Count', value: isProviders ? 1 : 0 } },
      },
    );
  }
}

function reasonOf({ refusedCredential, hasNoQuota, reason, connectionFault }: AttemptFailure): string | undefined {
  if (refusedCredential === true) return 'key_refused';
  return hasNoQuota === true ? 'no_quota' : (reason ?? connectionFault);
}

const isProviderFailure = ({ kind, isOurFault }: AttemptFailure): boolean =>
  (kind === 'failed' || kind === 'rate_limited') && isOurFault !== true;
