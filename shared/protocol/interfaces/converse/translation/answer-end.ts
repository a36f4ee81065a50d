// Why an answer of Converse ended, and its usage.
import type { LanguageModelV4FinishReason, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { type AnswerHead, estimatedOutputTokens } from '../../../hub/index.ts';
import type { TokenReport } from '../../../wire/index.ts';

interface ConverseEnd {
  readonly stopReason: string;
  readonly additionalModelResponseFields?: object;
}

/**
 * `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. `paths`:
 * of the fields that the client wants of its model.
 */
export function endOf(
  { unified, raw }: LanguageModelV4FinishReason,
  calls: number,
  metadata: SharedV4ProviderMetadata | undefined,
  paths: unknown,
): ConverseEnd {
  // From whichever package reports it.
  const sequence = Object.values(metadata ?? {}).find(
    ({ stopSequence }) => typeof stopSequence === 'string',
  )?.stopSequence;
  if (unified === 'length') return { stopReason: 'max_tokens' };
  if (unified === 'content-filter') return { stopReason: 'content_filtered' };
  if (calls > 0) return { stopReason: 'tool_use' };
  if (raw === 'model_context_window_exceeded') return { stopReason: raw };
  if (typeof sequence !== 'string') return { stopReason: raw === 'stop_sequence' ? raw : 'end_turn' };
  const asks = (path: string) => Array.isArray(paths) && paths.includes(path);
  const fields = {
    ...(asks('/stop_sequence') ? { stop_sequence: sequence } : {}),
    ...(asks('/delta/stop_sequence') ? { delta: { stop_sequence: sequence } } : {}),
  };
  const more = Object.keys(fields).length === 0 ? {} : { additionalModelResponseFields: fields };
  return { stopReason: 'stop_sequence', ...more };
}

/** The input excludes cached and written tokens. Clients need a number for every count. */
export function toUsage(
  tokens: TokenReport | undefined,
  { estimatedInputTokens }: Pick<AnswerHead, 'estimatedInputTokens'>,
  outputBytes: number,
) {
  const { cached = 0, cacheWrite = 0, cacheWrite1h: hour = 0 } = tokens ?? {};
  const { input = Math.max(1, estimatedInputTokens()), output = estimatedOutputTokens(outputBytes) } = tokens ?? {};
  const details = [
    { ttl: '5m', inputTokens: cacheWrite - hour },
    { ttl: '1h', inputTokens: hour },
  ].filter(({ inputTokens }) => inputTokens > 0);
  return {
    inputTokens: Math.max(0, input - cached - cacheWrite),
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: cacheWrite,
    ...(details.length === 0 ? {} : { cacheDetails: details }),
  };
}
