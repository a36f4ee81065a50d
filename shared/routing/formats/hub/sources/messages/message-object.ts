// What a message says of itself, why it ended, and what it has used.
import type { LanguageModelV4FinishReason, LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { type AnswerHead, estimatedOutputTokens, mediaMembers, tokensOf } from '../../middle/index.ts';

export const messageHead = ({ id, askedModel }: AnswerHead) => ({
  id: `msg_${id.replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: askedModel,
});

export interface MessageEnd {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: object | null;
}

/** `calls`: tool calls that the client is to run. Clients branch on it, so the reason and the calls always agree. */
export function messageEnd(
  { unified, raw }: LanguageModelV4FinishReason,
  calls: number,
  metadata: SharedV4ProviderMetadata | undefined,
): MessageEnd {
  // Of whichever package tells it.
  const sequence = Object.values(metadata ?? {}).find(
    ({ stopSequence: told }) => typeof told === 'string',
  )?.stopSequence;
  const ended = (stop_reason: string): MessageEnd => ({ stop_reason, stop_sequence: null, stop_details: null });
  if (unified === 'length') return ended('max_tokens');
  if (unified === 'content-filter') {
    return { ...ended('refusal'), stop_details: { type: 'refusal', category: null, explanation: null } };
  }
  if (calls > 0) return ended('tool_use');
  if (raw === 'pause_turn' || raw === 'model_context_window_exceeded') return ended(raw);
  if (typeof sequence === 'string') return { ...ended('stop_sequence'), stop_sequence: sequence };
  if (raw === 'stop_sequence') return ended(raw);
  return ended('end_turn');
}

export interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  /** The interface has no word of its own for sound and images: left out where there are none. */
  readonly input_tokens_details?: object;
  /** Null: nothing is known of what was written. */
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  } | null;
}

/** The input is without what came from a cache or was written there. Undefined: nothing was reported, and the gateway estimates. */
export function toUsage(reported: LanguageModelV4Usage): MessageUsage | undefined {
  const tokens = tokensOf(reported);
  if (tokens === undefined) return undefined;
  const { input = 0, output = 0, cached, cacheWrite, cacheWrite1h: hour, reasoning, media = {} } = tokens;
  const details = mediaMembers(media.audioInput, media.imageInput);
  return {
    input_tokens: Math.max(0, input - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning, ...mediaMembers(media.audioOutput, media.imageOutput) },
    ...(Object.keys(details).length === 0 ? {} : { input_tokens_details: details }),
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite - hour, ephemeral_1h_input_tokens: hour },
  };
}

/** Where the provider said nothing: every count is a number to clients. */
export const estimatedUsage = (inputTokens: number, outputBytes: number): MessageUsage => ({
  input_tokens: Math.max(1, inputTokens),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: estimatedOutputTokens(outputBytes),
  output_tokens_details: { thinking_tokens: 0 },
  cache_creation: null,
});

/** With the members that clients expect beside the counts. */
export const wholeUsage = (usage: MessageUsage) => ({
  ...usage,
  inference_geo: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
});
