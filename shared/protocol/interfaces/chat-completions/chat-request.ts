// Defines the fields of a chat completion that the gateway reads, with their schema, and the request made from them.
import * as z from 'zod/mini';
import { choicesMax } from '../../../foundation/constants/index.ts';
import { isJsonObject, listOf, presetSchema } from '../../wire/index.ts';
import { type ClientRequest, conversation, type MadeOfMembers, plainMembers } from '../index.ts';

/** Names of the output bound. A provider uses the name that it knows, so the largest value counts. */
export const outputBoundNames = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'n_predict',
  'max_length',
] as const;

const count = z.int().check(z.positive());
/** A field that is read leniently, because the provider checks its type. */
const anything = z.optional(z.unknown());
const flag = z.nullish(z.boolean());

const reasoningSchema = z
  .object({
    effort: z.nullish(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
    max_tokens: z.nullish(z.int().check(z.nonnegative())),
    exclude: flag,
    enabled: flag,
    summary: z.nullish(z.enum(['auto', 'concise', 'detailed'])),
  })
  .check(
    z.refine(({ effort, max_tokens }) => (effort ?? null) === null || (max_tokens ?? null) === null, {
      message: 'takes effort or max_tokens, not both',
    }),
  );

/**
 * Schema of the fields that the gateway reads. The schema is loose, so any other field reaches the provider unchanged.
 */
export const chatRequestSchema = z.looseObject({
  ...plainMembers,
  messages: conversation,
  stream: flag,
  stream_options: z.nullish(z.looseObject({ include_usage: flag })),
  temperature: z.nullish(z.number()),
  top_p: z.nullish(z.number()),
  max_tokens: z.nullish(count),
  max_completion_tokens: z.nullish(count),
  max_output_tokens: anything,
  max_new_tokens: anything,
  n_predict: anything,
  max_length: anything,
  n: z.nullish(count.check(z.maximum(choicesMax))),
  best_of: anything,
  service_tier: anything,
  web_search_options: anything,
  plugins: anything,
  stop: z.nullish(z.union([z.string(), listOf(z.string(), { isGood: (one) => typeof one === 'string' })])),
  tools: z.nullish(listOf(z.looseObject({}), { isGood: isJsonObject })),
  response_format: z.nullish(z.looseObject({ type: z.string() })),
  usage: z.nullish(z.looseObject({ include: flag })),
  preset: z.nullish(presetSchema),
  reasoning: z.nullish(reasoningSchema),
});

/** Schema of `json_schema` in a response format. */
export const schemaCarrier = z.looseObject({ schema: z.union([z.looseObject({}), z.boolean()]) });

export type CheckedBody = z.infer<typeof chatRequestSchema>;
export type ReasoningOptions = z.infer<typeof reasoningSchema>;

export interface ChatRequest extends ClientRequest {
  /** True if the client requested the provider's usage chunk itself. */
  readonly includeUsage: boolean;
  /** True if the client requested the gateway's merged usage at the end of a stream, by `usage: {include: true}`. */
  readonly includeMergedUsage: boolean;
  readonly reasoning: ReasoningOptions | undefined;
  /** The largest output bound in tokens that the client sent; undefined when it sent none. */
  readonly maxOutputTokens: number | undefined;
  /**
   * True if no bound was sent, or a value that is not a number of tokens (`-1`). Everything that the provider writes
   * then counts.
   */
  readonly isOutputOpen: boolean;
  readonly namesNoBound: boolean;
  /** `n` is the number of choices in one answer. */
  readonly choices: number;
}

/** The fields of a request without the values derived from them. */
export type ChatMembers = Omit<ChatRequest, MadeOfMembers>;
