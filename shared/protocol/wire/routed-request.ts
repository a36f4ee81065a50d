// What planner, holds, limits, cache and provider loop know of a request, whatever the interface of its client. Each
// interface makes it from a body of its own.

import * as z from 'zod/mini';
import type { Extra, InterfaceId } from '../../foundation/constants/index.ts';
import type { JsonText } from './json-text.ts';
import type { ProviderPreferences } from './provider-preferences.ts';

export interface RoutedRequest {
  /** Of its client: which candidates can serve it. */
  readonly interfaceId: InterfaceId;
  /** All members as they were sent: counted and compared. */
  readonly text: () => JsonText;
  readonly model: string;
  /** `models` less `model`: tried in this order after it. */
  readonly fallbackModels: readonly string[];
  /** Of a model id: the member of the body that names it. */
  readonly memberOfModel: (id: string) => string;
  readonly stream: boolean;
  /** It bounds its output by no number of tokens. */
  readonly isOutputOpen: boolean;
  readonly provider: ProviderPreferences;
  readonly cache: CacheOptions | undefined;
  /** What an answer must satisfy. */
  readonly responseSchema: unknown;
  /** What it refers to that one provider keeps, so that no other can serve it. */
  readonly keptInput: readonly KeptInput[];
  /** Whether later calls may name the answer: where its provider stores it (`stored`), or of any provider (`compared`). */
  readonly answerIs: 'stored' | 'compared' | 'unnamed';
  /** The member that holds the prompt. */
  readonly promptMember: string;
  /** The one that bounds the output. Undefined: its answers have none. */
  readonly outputBoundMember: string | undefined;
  /** `user`, for the record. */
  readonly user: string | undefined;
  /** Read from the body on first use, as is the size. */
  readonly needs: () => RequestNeeds;
  readonly size: () => CallSize;
  /** Every member as a value, numbers as they were written. Parsed where the call may be translated, and kept until it is let go. */
  readonly wholeBody: () => Readonly<Record<string, unknown>>;
  /** The same of a long body, which is parsed piece by piece. `nextTurn`: awaited in between. */
  readonly readWholeBody: (nextTurn: () => Promise<void>) => Promise<void>;
  /** They are made anew where they are asked for again. */
  readonly letGoValues: () => void;
  /** What a format that it is translated to must be able to say. Read once, on first use. */
  readonly hubNeeds: () => readonly HubNeed[];
}

/** Input that is kept at a provider. */
export interface KeptInput {
  /** The field that refers to it, as a path. */
  readonly member: string;
  /** As the provider gave it. Left out: the client names none that can be read. */
  readonly id?: string;
  /** The provider only compares the request with it: it adds nothing, and every provider can be asked. */
  readonly isCompared: boolean;
}

/** Each is something that not every format has words for. */
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
  /** In one message. */
  | 'many_documents'
  | 'forced_tool'
  | 'effort_with_tools'
  /** Nothing is said of it: a model may have one of its own. */
  | 'tools_without_effort'
  | 'content_part'
  | 'thread'
  | 'mcp_servers'
  | 'container'
  | 'compaction'
  /** To prepare a cache, and write nothing. */
  | 'no_output'
  | 'previous_response'
  | 'conversation'
  | 'stored_prompt'
  | 'item_reference'
  | 'tools'
  | 'response_format'
  | 'service_tier'
  | 'web_search'
  | 'plugins'
  | 'best_of'
  /** Beyond what the gateway looks for itself: more than four, or so few that some providers of chat completions take them. */
  | 'many_stops'
  | 'long_stops';

/** What a request asks for, and the member that asks. A candidate that cannot be told it is passed over. */
export interface HubNeed {
  readonly kind: HubNeedKind;
  readonly member: string;
  /** Of a file. */
  readonly mediaType?: string;
}

/** What an entry of the catalogue says it can do. A response schema is none of them: it has a code of its own. */
export type AbilityName = 'tools' | 'vision' | 'audio' | 'json_mode' | 'streaming';

/** A feature that a request needs, and the member of the request that asks for it. */
export type Feature =
  | { readonly name: AbilityName; readonly member: string }
  /** It makes a call dearer than the catalogue's prices: only an entry that lists it in `extras` is called with it. */
  | { readonly extra: Extra; readonly member: string }
  /** A header asks for it. */
  | { readonly extra: Extra; readonly header: string };

/** What a candidate must be able to do. */
export interface RequestNeeds {
  readonly features: readonly Feature[];
  /** The member that asks for answers which satisfy a schema. Undefined: none does. */
  readonly schemaMember: string | undefined;
  /** The member that asks a provider to keep what it was sent. Undefined: none does. */
  readonly storingMember: string | undefined;
  /** Bytes of the prompt's text: images and audio are counted by other rules, so their bytes say nothing. */
  readonly promptBytes: number;
}

/** How much output a call may ask for: the ground of the hold, and the bound of what is billed. */
export interface OutputSize {
  /** Output tokens the client asked for at most. Undefined: no number was sent. */
  readonly maxOutputTokens: number | undefined;
  /** The provider's own limit counts, where it is more. */
  readonly isOutputOpen: boolean;
  /** No bound was sent at all: the entry's `default_output_tokens` counts, where it has some. */
  readonly namesNoBound?: boolean | undefined;
  /** Its providers refuse a bound below their least: it goes out as it is. Left out: it is raised where it is translated. */
  readonly keepsBound?: true;
  /** `n`. */
  readonly choices: number;
  /** Bytes of a predicted output: what of it is rejected is billed as output, beside what was asked for. */
  readonly predictionBytes: number;
  /** What the provider writes beside the answers, in answers of its own: only what the model can write bounds each. */
  readonly answersBeside?: number | undefined;
}

export interface InputSize {
  /** Bytes of the body without its images. A token is at least one byte of it, whatever the tokenizer. */
  readonly textBytes: number;
  /** Tokens of its images at most. Undefined: media that only the context bounds (audio, files, other kinds). */
  readonly mediaTokens: number | undefined;
  /** What a host of Claude adds to the prompt for the tools of the request. */
  readonly claudeToolTokens: number;
  /** Some stand behind a URL: a provider that takes media of any kind bills what it finds there. */
  readonly hasMediaElsewhere: boolean;
  /** Texts that each have the context of the model to themselves: more than one in embeddings only. */
  readonly contexts: number;
}

/** How much goes in and how much may come out: what is held, estimated and counted by limits rests on these figures. */
export interface CallSize extends InputSize, OutputSize {
  /** Answers that may be charged: more than one where an output is checked and asked for again. */
  readonly answersMax: number;
}

/** What the body that a provider receives depends on, besides the request. */
/** As clients of chat completions name it. */
export type AskedEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface UpstreamTarget {
  /** As the provider names it. */
  readonly model: string;
  readonly reasoningStyle: 'effort' | 'object' | 'none';
  /** In the word of its model for it. Undefined: the model is told nothing. */
  readonly effortOf: (asked: AskedEffort | { readonly budgetTokens: number }) => string | undefined;
  /** It is Google's: the signatures of its calls come back to it. */
  readonly readsGoogleSignatures: boolean;
  /** A model that thinks by itself, refuses tools then, and can be told not to think. */
  readonly wantsNoEffortWithTools: boolean;
  /** It can report what a stream has used. */
  readonly reportsStreamUsage: boolean;
  /** Its model knows `max_completion_tokens` alone. Left out: it does not say. */
  readonly takesNewerBound?: boolean | undefined;
  /** Nothing of the call may be kept. */
  readonly zdr: boolean;
  /** For a call that names no output bound. */
  readonly defaultBound?: { readonly tokens: number; readonly chatMember: string } | undefined;
}

// Members of the gateway that several interfaces read.

const flag = z.nullish(z.boolean());

export const cacheSchema = z.object({
  enabled: flag,
  ttl: z.nullish(z.int().check(z.minimum(1), z.maximum(86_400))),
  refresh: flag,
  namespace: z.nullish(z.string().check(z.maxLength(64))),
});

type CacheOptions = z.infer<typeof cacheSchema>;

/** Any text: one that names no preset is preset_not_found. */
export const presetSchema = z.union([z.string(), z.object({ slug: z.string(), version: z.nullish(z.string()) })]);

export type PresetOption = z.infer<typeof presetSchema>;
