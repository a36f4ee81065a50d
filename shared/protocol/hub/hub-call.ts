// Defines a call between the interface of a client and the format of a provider: the call options, results and stream
// parts of the AI SDK's language models, with additions that the AI SDK lacks. Types only.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { ReasoningPreference } from '../wire/index.ts';

export type { ReasoningPreference };

/** Options that only some targets support. */
export type OptionalName =
  | 'cache_key'
  | 'cache_marks'
  | 'cache_options'
  | 'call_cache_marks'
  | 'context_management'
  | 'diagnostics'
  | 'image_detail'
  | 'inference_geo'
  | 'metadata'
  /** An option that no target can express. */
  | 'other'
  | 'provider_tool'
  | 'safety_identifier'
  /** Whether at most one tool call is allowed at a time. */
  | 'serial_calls'
  | 'service_tier'
  | 'speed'
  | 'store'
  | 'tool_cache_marks'
  /** The effort or budget of thinking. */
  | 'thinking'
  | 'user'
  /** A user from Messages, whose clients put the name of their session in this field. */
  | 'user_session'
  | 'verbosity';

/** A field that a target may drop. The call records which fields were dropped. `member` is the reported path. */
export interface OptionalMember {
  readonly name: OptionalName;
  readonly member: string;
  readonly value: unknown;
}

type CallOptions = Pick<
  LanguageModelV4CallOptions,
  | 'frequencyPenalty'
  | 'presencePenalty'
  | 'prompt'
  /** JSON output, without a schema in any form. */
  | 'responseFormat'
  | 'seed'
  | 'stopSequences'
  | 'temperature'
  | 'toolChoice'
  | 'tools'
  | 'topK'
  | 'topP'
>;

/**
 * A call independent of interfaces and formats. Its prompt has instructions at their positions, ids of tool calls that
 * every target accepts, and on each part its signature, independent of packages (`signedOptions`).
 */
export interface HubCall extends CallOptions {
  /** Undefined when the client does not request reasoning. */
  readonly reasoning: ReasoningPreference | undefined;
  readonly parallelToolCalls: boolean | undefined;
  readonly optional: readonly OptionalMember[];
}

export type HubResult = LanguageModelV4GenerateResult;
export type HubPart = LanguageModelV4StreamPart;
export type PartOf<Type extends HubPart['type']> = Extract<HubPart, { type: Type }>;

export type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;
export type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>;
export type AssistantPart = AssistantMessage['content'][number];
export type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;
export type ToolPart = ToolMessage['content'][number];
export type ToolResult = Extract<ToolPart, { type: 'tool-result' }>;
export type ToolOutput = ToolResult['output'];

/** Finish reason of a stream that ended with its format's end marker, but without a reason. */
export const impliedFinishReason = 'gw_own_end';
