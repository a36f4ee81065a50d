// One log line per request, written after its last byte and its settlement. Field names follow OpenTelemetry where it
// has one; the numbers are metrics too.
import type { ErrorCode } from '../../errors/index.ts';
import { requestMetricSeries } from '../../foundation/constants/index.ts';
import { type Log, type LogFields, maskKeys } from '../../foundation/log/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { GatewayRequest } from '../http/index.ts';
import { formatTags } from '../wire/index.ts';
import type { RequestScope } from './request-scope.ts';

export interface EndedRequest {
  readonly request: GatewayRequest;
  readonly scope: Pick<RequestScope, 'correlationId' | 'correlation' | 'clientGone' | 'logContext'>;
  readonly status: number;
  readonly errorCode: ErrorCode | undefined;
  /** It waited for the start of its process. */
  readonly coldStart: boolean;
}

export function logRequest({ clock, log }: { readonly clock: Clock; readonly log: Log }, ended: EndedRequest): void {
  const { request, scope, status, errorCode, coldStart } = ended;
  const { correlationId, correlation, clientGone, logContext } = scope;
  const totalMs = Math.max(0, clock.nowMs() - request.arrivedAtMs);
  const told = String(logContext.fields.outcome ?? 'ok');
  // A call may have been told to be good before its answer failed.
  const outcome = told === 'ok' && errorCode !== undefined ? errorCode : told;
  const provider = logContext.fields['gen_ai.provider.name'] as string | undefined;
  const fields: LogFields = {
    event: 'request',
    // Client text where no route answers. Never the query: some clients put their key there.
    route: withoutKeys(request.path),
    method: request.method,
    status,
    correlation_id: correlationId,
    trace_id: withoutKeys(correlation.traceId),
    span_id: withoutKeys(correlation.spanId),
    'gen_ai.conversation.id': withoutKeys(correlation.sessionId),
    'error.type': errorCode,
    total_ms: totalMs,
    client_gone: clientGone.aborted,
    cold_start: coldStart,
    tags: logContext.tags && formatTags(logContext.tags),
    ...logContext.fields,
    outcome,
  };
  const { GatewayTime, ...metrics } = logContext.metrics;
  log.info(fields, {
    dimensions: { provider, outcome_class: outcomeClass(outcome, status) },
    series: requestMetricSeries,
    values: {
      Requests: { unit: 'Count', value: 1 },
      // Every one that the client sees as an error: an alarm subtracts them from the errors of the function URLs.
      Errors: { unit: 'Count', value: status >= 400 ? 1 : 0 },
      TotalTime: { unit: 'Milliseconds', value: totalMs },
      ...metrics,
      // Most of a start is Lambda's: an alarm on it would ring whenever a quiet stage is called.
      ...(GatewayTime === undefined || coldStart ? {} : { GatewayTime }),
    },
  });
}

/** Few values, as each is billed: refusals that the client caused count together. */
function outcomeClass(outcome: string, status: number): string {
  const isClientError = status >= 400 && status < 500 && status !== 402 && status !== 429;
  return isClientError && outcome !== 'client_gone' ? 'client_error' : outcome;
}

/** Some clients take their API key for a session id; call records leave it out as well. */
const withoutKeys = (text: string | undefined): string | undefined => (text === undefined ? undefined : maskKeys(text));
