// Adds the record of a call to the request's log line, as fields and metrics.
import { attemptsText, type CallRecord, describePath } from '../../../shared/accounting/call-records/index.ts';
import { operationOf } from '../../../shared/foundation/constants/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { LogContext } from '../../../shared/protocol/router/index.ts';

/** Metrics count in millionths of a dollar: whole numbers that still tell one call from the next. */
const picoPerMicro = 1_000_000n;

export function addRecordToLog(context: LogContext, record: CallRecord): void {
  context.fields = {
    ...context.fields,
    workspace_id: record.workspace,
    key_id: record.keyPublicId,
    key_name: record.keyName,
    execution_id: record.executionId,
    function_id: record.functionId,
    revision_id: record.revisionId,
    'gen_ai.operation.name': operationOf[record.interfaceId ?? 'chat-completions'],
    'gen_ai.provider.name': record.provider,
    'gen_ai.request.model': record.modelAsked,
    'gen_ai.response.model': record.modelServed,
    'gen_ai.usage.input_tokens': record.promptTokens,
    'gen_ai.usage.output_tokens': record.completionTokens,
    cached_input_tokens: record.cachedTokens,
    usage_estimated: record.estimated,
    stream: record.stream,
    is_byok: record.isByok,
    outcome: record.outcome,
    ...(record.cutCode === undefined ? {} : { 'error.type': record.cutCode }),
    attempts: record.attempts,
    provider_path: describePath(record),
    provider_attempts: attemptsText(record.attemptLog),
    cost_usd: formatUsd(record.costPicoUsd),
    queued_ms: record.queuedMs,
    first_byte_ms: record.firstOutputMs,
    gateway_ms: record.gatewayMs,
  };
  context.tags = record.tags;
  context.metrics = {
    ...context.metrics,
    GatewayTime: { unit: 'Milliseconds', value: record.gatewayMs },
    InputTokens: { unit: 'Count', value: record.promptTokens },
    OutputTokens: { unit: 'Count', value: record.completionTokens },
    CostMicroUsd: { unit: 'None', value: Number(record.costPicoUsd / picoPerMicro) },
    ...(record.firstOutputMs === undefined
      ? {}
      : { TimeToFirstOutput: { unit: 'Milliseconds', value: record.firstOutputMs } }),
  };
}
