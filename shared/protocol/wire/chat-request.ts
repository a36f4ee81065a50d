// The chat-completions request: strict in what the gateway reads (spec 2.1, contract 3), blind to the rest. The schema
// only checks; `raw` keeps every member as it was sent, because what we do not use reaches the provider unchanged.
import * as z from 'zod/mini';
import { fail, GatewayError } from '../../errors/index.ts';
import { withPlainNumbers } from './json-body.ts';
import { type ProviderWishes, providerSchema, readProviderWishes } from './provider-wishes.ts';
import { describeFirstIssue } from './schema-issue.ts';

const count = z.int().check(z.positive());
const flag = z.nullish(z.boolean());

/** Any text: one that names no preset is preset_not_found (spec 2.1). */
const presetSchema = z.union([z.string(), z.object({ slug: z.string(), version: z.nullish(z.string()) })]);

const cacheSchema = z.object({
  enabled: flag,
  ttl: z.nullish(z.int().check(z.minimum(1), z.maximum(86_400))),
  refresh: flag,
  namespace: z.nullish(z.string().check(z.maxLength(64))),
});

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

/** Members the gateway reads. Loose: any other member is none of our business. */
export const chatRequestSchema = z.looseObject({
  model: z.string().check(z.minLength(1)),
  messages: z.array(z.looseObject({ role: z.string() })).check(z.minLength(1)),
  stream: flag,
  stream_options: z.nullish(z.looseObject({ include_usage: flag })),
  temperature: z.nullish(z.number()),
  top_p: z.nullish(z.number()),
  max_tokens: z.nullish(count),
  max_completion_tokens: z.nullish(count),
  n: z.nullish(count),
  stop: z.nullish(z.union([z.string(), z.array(z.string())])),
  tools: z.nullish(z.array(z.looseObject({}))),
  response_format: z.nullish(z.looseObject({ type: z.string() })),
  usage: z.nullish(z.looseObject({ include: flag })),
  provider: z.nullish(providerSchema),
  cache: z.nullish(cacheSchema),
  preset: z.nullish(presetSchema),
  reasoning: z.nullish(reasoningSchema),
});

type CheckedBody = z.infer<typeof chatRequestSchema>;
export type ReasoningWishes = z.infer<typeof reasoningSchema>;
export type CacheWishes = z.infer<typeof cacheSchema>;
export type PresetWish = z.infer<typeof presetSchema>;

export interface ChatRequest {
  /** Every member as sent. Never changed. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for the provider's usage chunk itself. */
  readonly includeUsage: boolean;
  /** The client asked for our merged usage at the end of a stream: `usage: {include: true}`. */
  readonly includeMergedUsage: boolean;
  readonly provider: ProviderWishes;
  readonly reasoning: ReasoningWishes | undefined;
  readonly cache: CacheWishes | undefined;
  readonly preset: PresetWish | undefined;
  /** Tokens of output the client asked for at most. */
  readonly maxOutputTokens: number | undefined;
  /** `n`: answers in one. */
  readonly choices: number;
  /** The schema of a json_schema response format. */
  readonly responseSchema: unknown;
}

/** Reads a parsed body. An error is returned, not thrown: a bad key wins over a bad body (contract 5). */
export function readChatRequest(raw: Record<string, unknown>): ChatRequest | GatewayError {
  const { messages, ...options } = raw;
  const checked = chatRequestSchema.safeParse({ messages, ...(withPlainNumbers(options) as object) });
  if (!checked.success) return fail('invalid_request', { message: describeFirstIssue(checked.error) });
  const body = checked.data;
  const provider = readProviderWishes(body.provider ?? {});
  if (provider instanceof GatewayError) return provider;
  const responseSchema = readResponseSchema(body);
  if (responseSchema instanceof GatewayError) return responseSchema;
  return {
    raw,
    model: body.model,
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    includeMergedUsage: body.usage?.include ?? false,
    provider,
    reasoning: body.reasoning ?? undefined,
    cache: body.cache ?? undefined,
    preset: body.preset ?? undefined,
    maxOutputTokens: largest(body.max_tokens, body.max_completion_tokens),
    choices: body.n ?? 1,
    responseSchema,
  };
}

/** Which of the two names a provider heeds is its own affair: the larger one is what may be used. */
function largest(...asked: readonly (number | null | undefined)[]): number | undefined {
  const numbers = asked.filter((tokens) => typeof tokens === 'number');
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

/** Spec 2.1: a schema stands under response_format.json_schema.schema. Whether it is a good one is asked later. */
function readResponseSchema(body: CheckedBody): unknown {
  if (body.response_format?.type !== 'json_schema') return undefined;
  const carrier = z.looseObject({ schema: z.union([z.looseObject({}), z.boolean()]) });
  const checked = carrier.safeParse(body.response_format.json_schema);
  if (!checked.success) {
    const message = describeFirstIssue(checked.error, ['response_format', 'json_schema']);
    return fail('invalid_response_schema', { message });
  }
  return checked.data.schema;
}
