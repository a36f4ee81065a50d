// A call record as its owner and the operator read it: decimal strings for money, ISO instants, null for what does not
// apply.
import { type ErrorCode, errorCatalogue, okStatus } from '../../errors/index.ts';
import { formatUsd } from '../../foundation/money/index.ts';
import type { CallAttempt, CallRecord } from './call-record.ts';

/** `id` is the `x-request-id` of the answer. */
export const callDocument = (record: CallRecord) => ({
  id: record.correlationId,
  execution_id: record.executionId,
  workspace: record.workspace,
  created_at: new Date(record.arrivedAtMs).toISOString(),
  outcome: record.outcome,
  error_code: errorCodeOf(record) ?? null,
  model: record.modelServed ?? null,
  model_asked: record.modelAsked ?? null,
  provider: record.provider ?? null,
  status: statusOf(record),
  error_message: record.errorMessage ?? null,
  replay_of: record.replayOf ?? null,
  attempts: (record.attemptLog ?? []).map(withoutProviderText),
  attempt_count: record.attempts,
  function_id: record.functionId ?? null,
  revision_id: record.revisionId ?? null,
  stream: record.stream,
  cache_hit: record.cacheHit,
  is_byok: record.isByok,
  prompt_tokens: record.promptTokens,
  cached_tokens: record.cachedTokens,
  completion_tokens: record.completionTokens,
  estimated: record.estimated,
  cost_usd: formatUsd(record.costPicoUsd),
  total_ms: record.totalMs,
  first_output_ms: record.firstOutputMs ?? null,
  queued_ms: record.queuedMs,
  gateway_ms: record.gatewayMs,
  key_name: record.keyName ?? null,
  key_public_id: record.keyPublicId,
  user: record.user ?? null,
  title: record.title ?? null,
  referer: record.referer ?? null,
  trace_id: record.traceId,
  span_id: record.spanId ?? null,
  parent_span_id: record.parentSpanId ?? null,
  session_id: record.sessionId ?? null,
});

/** The same for the operator: with what providers said of their failures. */
export const operatorCallDocument = (record: CallRecord) => ({
  ...callDocument(record),
  attempts: (record.attemptLog ?? []).map(({ providerText, ...attempt }) => ({
    ...attempt,
    ...(providerText === undefined ? {} : { provider_text: providerText }),
  })),
});

const withoutProviderText = ({ providerText: _providerText, ...attempt }: CallAttempt) => attempt;

/** Of the error that the client got, or with which its stream was cut. */
function errorCodeOf({ outcome, cutCode }: CallRecord): ErrorCode | undefined {
  if (cutCode !== undefined) return cutCode;
  return outcome === 'ok' || outcome === 'cut' || outcome === 'client_gone' ? undefined : outcome;
}

/** Of the answer. A stream that was cut had begun as a good one. Null: the client did not wait for it. */
function statusOf(record: CallRecord): number | null {
  if (record.outcome === 'client_gone') return null;
  const code = record.cutCode === undefined ? errorCodeOf(record) : undefined;
  return code === undefined ? okStatus : errorCatalogue[code].status;
}
