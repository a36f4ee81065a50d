// Writes one log line per request, after its last byte and its settlement. Field names follow OpenTelemetry if it has a
// name; the numbers are metrics too.
import type { GatewayError } from '../../errors/index.ts';
import { requestMetricSeries } from '../../foundation/constants/index.ts';
import { type Log, type LogFields, maskKeys } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { GatewayRequest } from '../http/index.ts';
import { formatTags } from '../wire/index.ts';
import type { RequestScope } from './request-scope.ts';

interface EndedRequest {
  readonly request: GatewayRequest;
  readonly scope: Pick<RequestScope, 'correlationId' | 'correlation' | 'clientGone' | 'details'>;
  readonly status: number;
  readonly error: GatewayError | undefined;
  /** True if it waited for the start of its process. */
  readonly coldStart: boolean;
}

export function logRequest({ clock, log }: { readonly clock: Clock; readonly log: Log }, ended: EndedRequest): void {
  const { request, scope, status, error, coldStart } = ended;
  const { correlationId, correlation, clientGone, details } = scope;
  const { caller, operator, change, call } = details;
  const totalMs = Math.max(0, clock.nowMs() - request.arrivedAtMs);
  const recorded = call?.outcome ?? 'ok';
  // A call may have been recorded as successful before its answer failed.
  const outcome = recorded === 'ok' && error !== undefined ? error.code : recorded;
  const fields: LogFields = {
    event: 'request',
    // The path is client text if no route answers. The query is never logged, because some clients put their key in the
    // query.
    route: withoutKeys(request.path),
    method: request.method,
    status,
    correlation_id: correlationId,
    trace_id: withoutKeys(correlation.traceId),
    span_id: withoutKeys(correlation.spanId),
    'gen_ai.conversation.id': withoutKeys(correlation.sessionId),
    'error.type': call?.cutCode ?? error?.code,
    total_ms: totalMs,
    client_gone: clientGone.aborted,
    cold_start: coldStart,
    tags: call?.tags && formatTags(call.tags),
    workspace_id: caller?.workspace,
    key_id: caller?.keyId,
    key_name: caller?.keyName,
    operator_id: operator?.id,
    operator_name: operator?.name,
    change: change?.what,
    change_target: change?.target,
    ...refusalFields(error),
    'gen_ai.provider.name': call?.provider,
    attempts: call?.attempts,
    ...call?.fields,
    outcome,
  };
  const { GatewayTime, ...metrics } = call?.metrics ?? {};
  log.info(fields, {
    dimensions: { provider: call?.provider, outcome_class: outcomeClass(outcome, status) },
    series: requestMetricSeries,
    values: {
      Requests: { unit: 'Count', value: 1 },
      // Everything that the client sees as an error counts. An alarm subtracts this count from the errors of the
      // function URLs.
      Errors: { unit: 'Count', value: status >= 400 ? 1 : 0 },
      TotalTime: { unit: 'Milliseconds', value: totalMs },
      ...metrics,
      // Most of a start is Lambda's time, so an alarm on it would ring whenever a quiet stage is called.
      ...(GatewayTime === undefined || coldStart ? {} : { GatewayTime }),
    },
  });
}

/**
 * Returns fields by which alarms distinguish refusals with the same code, such as a stage that is too small, a store
 * without an answer, or a pause.
 */
function refusalFields(error: GatewayError | undefined): LogFields {
  if (error === undefined) return {};
  const { code, exhausted, isPaused, cause } = error;
  const isUnanswered = code === 'RATE_LIMITER_UNAVAILABLE' && cause !== undefined && exhausted === undefined;
  return {
    // The message is logged because no record has the reason, and the code covers many cases.
    message: code === 'UNAUTHORIZED' ? error.message : undefined,
    exhausted,
    unanswered: isUnanswered ? true : undefined,
    paused: isPaused ? true : undefined,
  };
}

/** Returns one of a few values, because each value is billed. Refusals that the client caused count together. */
function outcomeClass(outcome: string, status: number): string {
  const isClientError = status >= 400 && status < 500 && status !== 402 && status !== 429;
  return isClientError && outcome !== 'client_gone' ? 'client_error' : outcome;
}

/** Masks keys, because some clients send their API key as a session id. Call records omit it as well. */
const withoutKeys = (text: string | undefined): string | undefined => (text === undefined ? undefined : maskKeys(text));
