// The members of a chat completion that the gateway reads: their schema, and the request that is made of them.
import * as z from 'zod/mini';
import { choicesMax } from '../../../foundation/constants/index.ts';
import { isJsonObject, listOf, presetSchema } from '../../wire/index.ts';
import { type ClientRequest, conversation, type MadeOfMembers, plainMembers } from '../index.ts';

/** Names of the output bound. A provider takes the one that it knows, so the largest of those sent counts. */
export const outputBoundNames = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'n_predict',
  'max_length',
] as const;

const count = z.int().check(z.positive());
/** Read as far as it can be read: its type is the provider's business. */
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

/** Members the gateway reads. Loose: any other member reaches the provider as it is. */
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

/** What `json_schema` of a response format must hold. */
export const schemaCarrier = z.looseObject({ schema: z.union([z.looseObject({}), z.boolean()]) });

export type CheckedBody = z.infer<typeof chatRequestSchema>;
export type ReasoningOptions = z.infer<typeof reasoningSchema>;

export interface ChatRequest extends ClientRequest {
  /** The client asked for the provider's usage chunk itself. */
  readonly includeUsage: boolean;
  /** The client asked for our merged usage at the end of a stream: `usage: {include: true}`. */
  readonly includeMergedUsage: boolean;
  readonly reasoning: ReasoningOptions | undefined;
  /** Tokens of output the client asked for at most: the largest bound that was sent. Undefined: none was. */
  readonly maxOutputTokens: number | undefined;
  /** No bound was sent, or one that is no number of tokens (`-1`): what the provider ever writes counts too. */
  readonly isOutputOpen: boolean;
  readonly namesNoBound: boolean;
  /** `n`: answers in one. */
  readonly choices: number;
}

/** A request without what is made of it. */
export type ChatMembers = Omit<ChatRequest, MadeOfMembers>;
