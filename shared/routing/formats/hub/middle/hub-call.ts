// What passes between the interface of a client and the format of a provider: the call options, results and stream parts of the
// AI SDK's language models, and beside them what those have no word for. Types only.
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { AskedReasoning } from '../../../../configuration/catalogue/index.ts';

export type { AskedReasoning };

/** What only some targets have a word for. */
export type OptionalName =
  | 'cache_key'
  | 'cache_marks'
  | 'cache_options'
  | 'context_management'
  | 'diagnostics'
  | 'image_detail'
  | 'inference_geo'
  | 'metadata'
  /** No target has a word for it. */
  | 'other'
  | 'provider_tool'
  | 'safety_identifier'
  /** One call of a tool at a time. */
  | 'serial_calls'
  | 'service_tier'
  | 'speed'
  | 'store'
  | 'tool_cache_marks'
  /** How hard to think, or with how much. */
  | 'thinking'
  | 'user'
  /** Of Messages, whose clients name their session with the user. */
  | 'user_session'
  | 'verbosity';

/** A member that a target may leave out. The call says which were: `member` is the path that is told. */
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
  /** Without a schema: JSON of any form. */
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
 * A call in the words of no interface and no format. Its prompt holds instructions in their places, ids of tool calls that every
 * target takes, and on each part what was signed of it, in the words of no package (`signedOptions`).
 */
export interface HubCall extends CallOptions {
  /** Undefined: the client says nothing. */
  readonly reasoning: AskedReasoning | undefined;
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
