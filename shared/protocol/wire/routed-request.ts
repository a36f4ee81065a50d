// Defines a request as planner, reservations, limits, cache and provider loop use it, whatever the interface of its
// client. Each interface builds it from its own body.

import * as z from 'zod/mini';
import type { Extra, InterfaceId } from '../../foundation/constants/index.ts';
import type { JsonText } from './json-text.ts';
import type { ProviderPreferences } from './provider-preferences.ts';
import type { Units } from './usage-report.ts';

export interface RoutedRequest {
  /** Interface of its client, which determines the candidates that can serve it. */
  readonly interfaceId: InterfaceId;
  /** Returns all fields as they were sent, for counting and comparing. */
  readonly text: () => JsonText;
  readonly model: string;
  /** Set if its clients may also name models as Amazon Bedrock does. */
  readonly namesModelsOf?: 'bedrock' | undefined;
  /** `models` without `model`. They are tried in this sequence after `model`. */
  readonly fallbackModels: readonly string[];
  /** Finds the field of the body that names a model id. */
  readonly memberOfModel: (id: string) => string;
  readonly stream: boolean;
  /** True if no number of tokens bounds its output. */
  readonly isOutputOpen: boolean;
  readonly provider: ProviderPreferences;
  readonly cache: CacheOptions | undefined;
  /** The schema that an answer must satisfy. */
  readonly responseSchema: unknown;
  /** References to input that one provider stores, so that no other provider can serve the request. */
  readonly providerState: readonly StateReference[];
  /**
   * Whether later calls may refer to the answer: only if its provider stores it (`stored`), at any provider
   * (`compared`), or never (`unnamed`).
   */
  readonly answerIs: 'stored' | 'compared' | 'unnamed';
  /** The field that contains the prompt. */
  readonly promptMember: string;
  /** The field that bounds the output; undefined for answers without a bound. */
  readonly outputBoundMember: string | undefined;
  /** `user`, for the record. */
  readonly user: string | undefined;
  /** Returns the needs, read from the body on first use, as is the size. */
  readonly needs: () => RequestNeeds;
  readonly size: () => CallSize;
  /**
   * Returns every field as a value, numbers as they were written. Parsed if the call may be translated, and stored
   * until it is dropped.
   */
  readonly wholeBody: () => Readonly<Record<string, unknown>>;
  /** Parses a long body piece by piece, with turns in between. */
  readonly readWholeBody: () => Promise<void>;
  /** Drops the values, which are parsed again on demand. */
  readonly letGoValues: () => void;
  /** Returns the features that a translated format must be able to express, read on first use. */
  readonly hubNeeds: () => readonly HubNeed[];
}

/** A reference to input that a provider stores. */
export interface StateReference {
  /** The field with the reference, as a path. */
  readonly member: string;
  /** Id as the provider issued it; absent if the client's reference contains none that can be read. */
  readonly id?: string;
  /**
   * True if the provider only compares the request with the referenced answer, which adds no input, so that every
   * provider can serve.
   */
  readonly isCompared: boolean;
}

/** Features that not every format can express. */
export type HubNeedKind =
  | 'n'
  | 'logprobs'
  | 'audio_input'
  | 'audio_id'
  | 'audio_output'
  | 'image'
  | 'image_url'
  | 'file'
  | 'file_url'
  | 'file_id'
  /** More than five documents in one message. Converse accepts only five. */
  | 'many_documents'
  | 'forced_tool'
  | 'effort_with_tools'
  /** Tools without a stated effort, because a model may have its own default. */
  | 'tools_without_effort'
  | 'content_part'
  /** A role that no format knows, which is a fault of the request. */
  | 'unknown_role'
  | 'thread'
  | 'mcp_servers'
  | 'container'
  | 'compaction'
  /** A call that fills a cache, and has no output. */
  | 'no_output'
  | 'previous_response'
  | 'conversation'
  | 'stored_prompt'
  /** A guardrail that the provider applies. */
  | 'guardrail'
  | 'item_reference'
  | 'tools'
  /** Inputs of embeddings that are tokens of one model. */
  | 'token_ids'
  | 'image_model'
  /** Images that are stored at a provider, or at a URL. */
  | 'image_reference'
  /** A file that marks the part of an image to change. */
  | 'mask'
  /** An option of images that not every model has; `mediaType` names its value. */
  | 'image_option'
  | 'dimensions'
  /** Options of reranking, and texts mixed with objects. */
  | 'max_tokens_per_doc'
  | 'max_chunks_per_doc'
  | 'return_documents'
  | 'rank_fields'
  | 'relevant_spans'
  | 'mixed_documents'
  | 'response_format'
  | 'service_tier'
  | 'web_search'
  | 'plugins'
  | 'best_of'
  /** More than four stop sequences that the gateway cannot apply itself. Chat completions accept only four. */
  | 'many_stop_sequences'
  /** At most four stop sequences that are too long for the gateway to apply them itself. */
  | 'long_stop_sequences';

/**
 * A feature that a request needs, and the field that requests it. A candidate that cannot express the feature is
 * skipped.
 */
export interface HubNeed {
  readonly kind: HubNeedKind;
  readonly member: string;
  /** Media type of a file, or an option of images with its value (`size=1024x1024`). */
  readonly value?: string;
}

/** Abilities of a provider entry. A response schema is not an ability, because it has its own error code. */
export type AbilityName = 'tools' | 'vision' | 'audio' | 'json_mode' | 'streaming';

/** A feature that a request needs, and the field that requests it. */
export type Feature =
  | { readonly name: AbilityName; readonly member: string }
  /**
   * Set if the feature makes a call more expensive than the catalogue's prices. Only an entry that lists the feature in
   * `extras` is called.
   */
  | { readonly extra: Extra; readonly member: string }
  /** The header that requests the feature. */
  | { readonly extra: Extra; readonly header: string };

/** Abilities that a candidate must have. */
export interface RequestNeeds {
  readonly features: readonly Feature[];
  /** The field that requests answers that satisfy a schema, if any. */
  readonly schemaMember: string | undefined;
  /** The field that makes a provider store its input, if any. */
  readonly storingMember: string | undefined;
  /** Bytes of the prompt's text. Images and audio are counted by other rules, so their bytes do not count. */
  readonly promptBytes: number;
}

/** Output that a call may request, which is the basis of the reservation, and the bound of the bill. */
export interface OutputSize {
  /** The client's bound of output tokens, if it sent a number. */
  readonly maxOutputTokens: number | undefined;
  /** True if the provider's own limit counts, if it is higher. */
  readonly isOutputOpen: boolean;
  /** True if no bound was sent at all. The entry's `default_output_tokens` then counts, if the entry has it. */
  readonly namesNoBound?: boolean | undefined;
  /**
   * Set if its providers refuse a bound below their least and get it unchanged. If absent, a translated call raises
   * it.
   */
  readonly keepsBound?: true;
  /** `n`, the number of choices. */
  readonly choices: number;
  /** Bytes of a predicted output. Its rejected part is billed as output, in addition to the requested output. */
  readonly predictionBytes: number;
  /** Number of further answers that the provider writes, each bounded only by the model. */
  readonly answersBeside?: number | undefined;
}

export interface InputSize {
  /** Bytes of the body without its images. A token is at least one byte of it, whatever the tokenizer. */
  readonly textBytes: number;
  /** The most tokens of its images; undefined for media that only the context bounds (audio, files, other kinds). */
  readonly mediaTokens: number | undefined;
  /** Kind of the media tokens, if all are of one kind, which determines their price if the provider reports nothing. */
  readonly mediaKind?: 'audioInput' | 'imageInput' | undefined;
  /** Tokens that a host of Claude adds to the prompt for the tools of the request. */
  readonly claudeToolTokens: number;
  /** True if some media are at a URL. A provider that accepts media of any kind bills whatever it finds there. */
  readonly hasMediaElsewhere: boolean;
  /** Number of texts that each have a separate context in the model, which is more than one in embeddings only. */
  readonly contexts: number;
}

/** Sizes of input and output, on which reservation, estimate and limits are based. */
export interface CallSize extends InputSize, OutputSize {
  /**
   * Maximum number of answers that may be charged, which is more than one if an output is checked and requested again.
   */
  readonly answersMax: number;
  /** The most units that may have a price of their own. */
  readonly units?: Units | undefined;
  /** Usual numbers of units, for a provider that reports nothing; the most if absent. */
  readonly usualUnits?: Units | undefined;
}

/** Properties of the target, besides the request, that determine a provider's body. */
/** Effort in the values of chat completions. */
export type EffortPreference = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface UpstreamTarget {
  /** The provider's name of the model. */
  readonly model: string;
  readonly reasoningStyle: 'effort' | 'object' | 'none';
  /** Returns the effort in the target model's own value; undefined if it gets none. */
  readonly effortOf: (preference: EffortPreference | { readonly budgetTokens: number }) => string | undefined;
  /** True for Google, which reads the signatures of its calls again. */
  readonly readsGoogleSignatures: boolean;
  /** True for a model that thinks by default, refuses tools then, and can be asked not to think. */
  readonly wantsNoEffortWithTools: boolean;
  /** True if it can report the usage of a stream. */
  readonly reportsStreamUsage: boolean;
  /** True if its model knows only `max_completion_tokens`; absent when unknown. */
  readonly takesNewerBound?: boolean | undefined;
  /** True if nothing of the call may be stored. */
  readonly zdr: boolean;
  /** Bound for a call that names none. */
  readonly defaultBound?: { readonly tokens: number; readonly chatMember: string } | undefined;
}

// Fields of the gateway that several interfaces read.

const flag = z.nullish(z.boolean());

export const cacheSchema = z.object({
  enabled: flag,
  ttl: z.nullish(z.int().check(z.minimum(1), z.maximum(86_400))),
  refresh: flag,
  namespace: z.nullish(z.string().check(z.maxLength(64))),
});

type CacheOptions = z.infer<typeof cacheSchema>;

/** Schema that accepts any text, because an unknown preset is preset_not_found. */
export const presetSchema = z.union([z.string(), z.object({ slug: z.string(), version: z.nullish(z.string()) })]);

export type PresetOption = z.infer<typeof presetSchema>;
