// A call record as its owner and the operator read it (contract 16): decimal strings for money, ISO instants, null for
// what does not apply.
import { formatUsd } from '../../foundation/money/index.ts';
import type { CallRecord } from './call-record.ts';

/** `id` is the `x-request-id` of the answer. */
export const callDocument = (record: CallRecord) => ({
  id: record.correlationId,
  execution_id: record.executionId,
  workspace: record.workspace,
  created_at: new Date(record.arrivedAtMs).toISOString(),
  outcome: record.outcome,
  error_code: record.cutCode ?? null,
  model: record.modelServed ?? null,
  model_asked: record.modelAsked,
  provider: record.provider ?? null,
  attempts: record.attemptLog ?? [],
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
