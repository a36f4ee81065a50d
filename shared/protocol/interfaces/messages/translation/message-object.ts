// Metadata, stop reason and usage of a message.
import type { LanguageModelV4FinishReason, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { type AnswerHead, estimatedOutputTokens, mediaMembers } from '../../../hub/index.ts';
import type { TokenReport } from '../../../wire/index.ts';

export type MessageObject = ReturnType<typeof messageStart>;

/**
 * Returns the message at its start. Its usage is an estimate, and no report: a broken stream is billed by its relayed
 * output.
 */
export const messageStart = ({ id, clientModel, estimatedInputTokens }: AnswerHead) => ({
  id: `msg_${id.replaceAll('-', '')}`,
  type: 'message',
  role: 'assistant',
  model: clientModel,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  usage: { ...wholeUsage(toUsage(undefined, { inputTokens: estimatedInputTokens, outputBytes: 0 })), output_tokens: 1 },
  container: null,
  diagnostics: null,
});

/** Changes of a message at its end. */
export type MessageChange = MessageEnd & { readonly container: null };

interface MessageEnd {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: object | null;
}

/**
 * Returns the end. `calls`: the number of tool calls that the client has to run. Clients branch on the reason, so it
 * always agrees with the calls.
 */
export function messageEnd(
  { unified, raw }: LanguageModelV4FinishReason,
  calls: number,
  metadata: SharedV4ProviderMetadata | undefined,
): MessageEnd {
  // The metadata may come from any package.
  const sequence = Object.values(metadata ?? {}).find(
    ({ stopSequence: stop }) => typeof stop === 'string',
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

interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  /** Details of audio and images, for which the interface has no field; absent where there are none. */
  readonly input_tokens_details?: object;
  /** Null where the written tokens are unknown. */
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number;
    readonly ephemeral_1h_input_tokens: number;
  } | null;
}

/** The gateway's own counts, in place of counts that the provider does not report. */
interface Estimates {
  readonly inputTokens: () => number;
  readonly outputBytes: number;
}

/** Returns the usage; its input excludes cached and cache-written tokens. Clients need a number for every count. */
export function toUsage(tokens: TokenReport | undefined, estimates: Estimates): MessageUsage {
  const { cached = 0, cacheWrite = 0, cacheWrite1h: hour = 0, reasoning = 0, media = {} } = tokens ?? {};
  const { input = Math.max(1, estimates.inputTokens()), output = estimatedOutputTokens(estimates.outputBytes) } =
    tokens ?? {};
  const details = mediaMembers(media.audioInput, media.imageInput);
  return {
    input_tokens: Math.max(0, input - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: output,
    output_tokens_details: { thinking_tokens: reasoning, ...mediaMembers(media.audioOutput, media.imageOutput) },
    ...(Object.keys(details).length === 0 ? {} : { input_tokens_details: details }),
    cache_creation:
      tokens === undefined ? null : { ephemeral_5m_input_tokens: cacheWrite - hour, ephemeral_1h_input_tokens: hour },
  };
}

/** Adds the fields that clients expect beside the counts. */
const wholeUsage = (usage: MessageUsage) => ({
  ...usage,
  inference_geo: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
});
