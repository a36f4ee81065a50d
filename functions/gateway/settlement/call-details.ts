// Builds the details of a call for the log line, the span and the metrics of its request.
import { attemptsText, type CallRecord, describePath } from '../../../shared/accounting/call-records/index.ts';
import { unitsText } from '../../../shared/foundation/constants/index.ts';
import { type LogFields, maskKeys } from '../../../shared/foundation/log/index.ts';
import { formatUsd } from '../../../shared/foundation/money/index.ts';
import type { CallDetails } from '../../../shared/protocol/router/index.ts';

/** Metrics count in millionths of a dollar, which are whole numbers that still distinguish two calls. */
const picoPerMicro = 1_000_000n;

/** Model names of clients are no longer than the catalogue's names, or are an alias. */
const modelMaxCharacters = 160;

/** Returns fields of the request; for a refused call as far as it could be read. */
export const requestFields = (model: string | undefined, stream: boolean | undefined): LogFields => ({
  'gen_ai.request.model': model && maskKeys(model.slice(0, modelMaxCharacters)),
  stream,
});

export const callDetails = (record: CallRecord, operation: string): CallDetails => ({
  outcome: record.outcome,
  cutCode: record.cutCode,
  provider: record.provider,
  attempts: record.attempts,
  tags: record.tags,
  fields: {
    ...requestFields(record.modelAsked, record.stream),
    cache: record.cacheHit ? 'HIT' : undefined,
    execution_id: record.executionId,
    function_id: record.functionId,
    revision_id: record.revisionId,
    'gen_ai.operation.name': operation,
    'gen_ai.response.model': record.modelServed,
    'gen_ai.usage.input_tokens': record.promptTokens,
    'gen_ai.usage.output_tokens': record.completionTokens,
    cached_input_tokens: record.cachedTokens,
    reasoning_tokens: record.reasoningTokens,
    units: record.units && unitsText(record.units),
    usage_estimated: record.estimated,
    is_byok: record.isByok,
    provider_path: describePath(record),
    provider_attempts: attemptsText(record.attemptLog),
    cost_usd: formatUsd(record.costPicoUsd),
    queued_ms: record.queuedMs,
    first_byte_ms: record.firstOutputMs,
    gateway_ms: record.gatewayMs,
  },
  metrics: {
    GatewayTime: { unit: 'Milliseconds', value: record.gatewayMs },
    InputTokens: { unit: 'Count', value: record.promptTokens },
    OutputTokens: { unit: 'Count', value: record.completionTokens },
    CostMicroUsd: { unit: 'None', value: Number(record.costPicoUsd / picoPerMicro) },
    ...(record.firstOutputMs === undefined
      ? {}
      : { TimeToFirstOutput: { unit: 'Milliseconds', value: record.firstOutputMs } }),
  },
});
