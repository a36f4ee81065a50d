// The error for a provider that did not answer, its line in the log, and what it says of our credential.
import { fail, type GatewayError, quote } from '../../../shared/errors/index.ts';
import type { RequestScope } from '../../../shared/protocol/router/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { finalReason } from '../provider/conclude.ts';
import type { FoundResponse } from './find-stored-response.ts';

interface RefusedCall extends FoundResponse {
  readonly id: string;
  readonly workspace: string;
  readonly scope: RequestScope;
}

const notFoundStatus = 404;
/** Said of the state of the response. */
const rejectedStatuses: ReadonlySet<number | undefined> = new Set([405, 409, 410]);

export function refusalOf(
  { log, credentials }: GatewayDependencies,
  { id, workspace, provider, payment, zdr, scope }: RefusedCall,
  failure: AttemptFailure,
): GatewayError {
  const { correlationId } = scope;
  const byok = payment.byok?.sourceOf({ provider });
  log.info({
    event: 'attempt_failed',
    correlation_id: correlationId,
    workspace_id: workspace,
    provider: provider.id,
    credential: byok === undefined ? provider.credential : undefined,
    outcome: failure.cause,
    status: failure.status,
    reason: failure.connectionFault,
    message: zdr ? undefined : failure.providerText?.forOperator,
  });
  if (failure.refusedCredential === true && byok === undefined) scope.deferred.add(() => credentials.refresh());
  if (failure.refusal !== undefined) return failure.refusal;
  if (failure.isUnavailable === true) return fail('RATE_LIMITER_UNAVAILABLE', { cause: new Error(failure.cause) });
  if (failure.kind === 'deadline') return fail('request_deadline_exceeded');
  if (failure.status === notFoundStatus) {
    return fail('not_found', {
      message: `${provider.id} does not know the response ${quote(id)}, or what was asked of it.`,
    });
  }
  if (failure.kind === 'rate_limited') return fail('rate_limited', { retryAfterSeconds: failure.retryAfterSeconds });
  if (failure.kind === 'invalid' || rejectedStatuses.has(failure.status)) {
    const providerText = failure.providerText?.forClient;
    const words = providerText === undefined ? undefined : { text: providerText, isWholeMessage: false };
    return fail('invalid_request', { message: `${provider.id} rejected the request.`, providerWords: words });
  }
  const { isFinal = false, message: why = `${provider.id} did not answer.` } = finalReason([
    { ...failure, byok, provider: provider.id },
  ]);
  const cause = new Error(failure.cause);
  // No record names the call: the reading of a response leaves none.
  return fail('no_available_provider', { isFinal, message: why, cause });
}
