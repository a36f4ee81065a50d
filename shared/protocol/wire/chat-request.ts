// The chat-completions request: strict in what the gateway reads (spec 2.1, contract 3), blind to the rest. The schema
// only checks; `raw` keeps every member as it was sent, because what we do not use reaches the provider unchanged.
import * as z from 'zod/mini';
import { fail, GatewayError } from '../../errors/index.ts';
import { choicesMax } from '../../foundation/constants/index.ts';
import { listOf, refuseFirstIssue } from './checked-members.ts';
import { isJsonObject } from './json-body.ts';
import { JsonText } from './json-text.ts';
import { type ProviderPreferences, providerSchema, readProviderPreferences } from './provider-preferences.ts';
import { jsonTextOf, withPlainNumbers } from './read-json-text.ts';
import { readMembers } from './read-members.ts';

/** `models`: each may be tried within one budget. */
const fallbackModelsMax = 8;

/** Names of the output bound. A provider takes the one that it knows, so the largest of those sent counts. */
export const outputBoundNames = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'n_predict',
  'max_length',
] as const;

const hasRole = (message: unknown): boolean => isJsonObject(message) && typeof message.role === 'string';

const count = z.int().check(z.positive());
/** Read as far as it can be read: its type is the provider's business. */
const anything = z.optional(z.unknown());
const flag = z.nullish(z.boolean());
const text = z.string().check(z.minLength(1));

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

/** Members the gateway reads. Loose: any other member reaches the provider as it is. */
export const chatRequestSchema = z.looseObject({
  model: z.optional(text),
  models: z.nullish(listOf(text, { itemsMin: 1, itemsMax: fallbackModelsMax })),
  messages: listOf(z.looseObject({ role: z.string() }), { itemsMin: 1, isGood: hasRole }),
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
  stop: z.nullish(z.union([z.string(), listOf(z.string())])),
  tools: z.nullish(listOf(z.looseObject({}), { isGood: isJsonObject })),
  response_format: z.nullish(z.looseObject({ type: z.string() })),
  usage: z.nullish(z.looseObject({ include: flag })),
  provider: z.nullish(providerSchema),
  cache: z.nullish(cacheSchema),
  preset: z.nullish(presetSchema),
  reasoning: z.nullish(reasoningSchema),
});

type CheckedBody = z.infer<typeof chatRequestSchema>;
export type ReasoningOptions = z.infer<typeof reasoningSchema>;
type CacheOptions = z.infer<typeof cacheSchema>;
export type PresetOption = z.infer<typeof presetSchema>;

/** Members that are read or set elsewhere: by the planner for features and policies, or for a provider's style. */
const otherUsedNames = ['functions', 'modalities', 'audio', 'store', 'reasoning_effort', 'prediction'];

/** `user` is recorded, and no provider takes another name for it. */
const readNames: ReadonlySet<string> = new Set([...Object.keys(chatRequestSchema.shape), ...otherUsedNames, 'user']);

/** Lower case → the name as the gateway knows it. */
const usedNames: ReadonlyMap<string, string> = new Map(
  [...Object.keys(chatRequestSchema.shape), ...otherUsedNames].map((name) => [name.toLowerCase(), name]),
);

/** Such a name is a used one itself, or none. */
const lowerCase = /^[a-z0-9_]*$/;
const usedNameMaxCharacters = Math.max(...[...usedNames.keys()].map(({ length }) => length));

export interface ChatRequest {
  /** The members that the gateway reads, and of these what it reads. Never changed. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** The text of all members as they were sent: what is sent on, counted and compared. */
  readonly text: () => JsonText;
  readonly model: string;
  /** `models` less `model`: tried in this order after it. */
  readonly fallbackModels: readonly string[];
  readonly stream: boolean;
  /** The client asked for the provider's usage chunk itself. */
  readonly includeUsage: boolean;
  /** The client asked for our merged usage at the end of a stream: `usage: {include: true}`. */
  readonly includeMergedUsage: boolean;
  readonly provider: ProviderPreferences;
  readonly reasoning: ReasoningOptions | undefined;
  readonly cache: CacheOptions | undefined;
  readonly preset: PresetOption | undefined;
  /** Tokens of output the client asked for at most: the largest bound that was sent. Undefined: none was. */
  readonly maxOutputTokens: number | undefined;
  /** No bound was sent, or one that is no number of tokens (`-1`): what the provider ever writes counts too. */
  readonly isOutputOpen: boolean;
  /** `n`: answers in one. */
  readonly choices: number;
  /** The schema of a json_schema response format. */
  readonly responseSchema: unknown;
}

/** Reads the text of a body, or its members. An error is returned, not thrown: a key that is refused wins over it. */
export function readChatRequest(body: JsonText | Readonly<Record<string, unknown>>): ChatRequest | GatewayError {
  try {
    return body instanceof JsonText
      ? checkText(body)
      : checkMembers(
          body,
          once(() => jsonTextOf(body)),
        );
  } catch (cause) {
    // Whatever a body makes a check throw (a stack that is too deep, say) is the body's fault.
    return cause instanceof GatewayError ? cause : fail('invalid_request', { cause });
  }
}

function checkText(json: JsonText): ChatRequest {
  refuseOtherCase(json.members().map(({ name }) => name));
  return checkMembers(readMembers(json, readNames), () => json);
}

function checkMembers(raw: Readonly<Record<string, unknown>>, text: () => JsonText): ChatRequest {
  refuseOtherCase(Object.keys(raw));
  const { messages, ...options } = raw;
  const checked = chatRequestSchema.safeParse({ messages, ...(withPlainNumbers(options) as object) });
  if (!checked.success) throw refuseFirstIssue('invalid_request', checked.error);
  const body = checked.data;
  const [model, ...fallbackModels] = new Set([body.model, ...(body.models ?? [])].filter((id) => id !== undefined));
  if (model === undefined) throw fail('invalid_request', { message: 'model: is missing', param: 'model' });
  return {
    raw,
    text,
    model,
    fallbackModels,
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    includeMergedUsage: body.usage?.include ?? false,
    provider: readProviderPreferences(body.provider ?? {}),
    reasoning: body.reasoning ?? undefined,
    cache: body.cache ?? undefined,
    preset: body.preset ?? undefined,
    ...readOutputBound(body),
    choices: body.n ?? 1,
    responseSchema: readResponseSchema(body),
  };
}

/**
 * Contract 3: a provider that reads names without case (many Go servers) would see another `model` or `max_tokens` than
 * the one that was checked and paid for. Upper case first, because Go takes a long s for an s.
 */
function refuseOtherCase(names: Iterable<string>): void {
  for (const name of names) {
    if (name.length > usedNameMaxCharacters || lowerCase.test(name)) continue;
    const used = usedNames.get(name.toUpperCase().toLowerCase());
    if (used === undefined || used === name) continue;
    throw fail('invalid_request', { message: `${used}: was also sent in another letter case`, param: used });
  }
}

/** Which of the names counts depends on the provider: the largest bound is what may be used. */
function readOutputBound(body: CheckedBody): Pick<ChatRequest, 'maxOutputTokens' | 'isOutputOpen'> {
  const sent = outputBoundNames.map((name) => body[name]).filter((bound) => (bound ?? null) !== null);
  const numbers = sent.filter((bound) => typeof bound === 'number' && Number.isInteger(bound) && bound > 0) as number[];
  return {
    maxOutputTokens: numbers.length === 0 ? undefined : Math.min(Math.max(...numbers), Number.MAX_SAFE_INTEGER),
    isOutputOpen: sent.length === 0 || numbers.length < sent.length,
  };
}

/** Spec 2.1: a schema stands under response_format.json_schema.schema. Whether it is a good one is asked later. */
function readResponseSchema(body: CheckedBody): unknown {
  if (body.response_format?.type !== 'json_schema') return undefined;
  const checked = schemaCarrier.safeParse(body.response_format.json_schema);
  if (checked.success) return checked.data.schema;
  throw refuseFirstIssue('invalid_response_schema', checked.error, ['response_format', 'json_schema']);
}

export const schemaCarrier = z.looseObject({ schema: z.union([z.looseObject({}), z.boolean()]) });

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
