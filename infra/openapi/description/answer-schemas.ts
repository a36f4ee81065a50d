// Describes the answers of the interface. In a completion the fields that the gateway guarantees are required, and the
// provider determines the rest. Models are typed field by field after the types of the answers, so that a new field
// does not compile without its schema.
import { errorCatalogue, rejectionReasons } from '../../../shared/errors/index.ts';
import { brand, listedInterfaceIds } from '../../../shared/foundation/constants/index.ts';
import {
  arrayOf,
  count,
  decimal,
  flag,
  type JsonSchema,
  type MembersOf,
  objectSchema,
  schemaReference,
  text,
} from '../../../shared/protocol/description/index.ts';
import {
  type AnthropicModelObject,
  type AnthropicModelPage,
  autoModelObject,
  type FunctionModelObject,
  type ModelListObject,
  type ModelObject,
  midStreamCodes,
  type ProviderEntryObject,
  type StatsObject,
  type UnitPricesObject,
} from '../../../shared/protocol/wire/index.ts';

const usd = { type: 'number', minimum: 0 };

const usage = objectSchema(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    cost: { ...usd, description: 'What the workspace pays, in USD.' },
    cost_usd: { ...decimal, description: 'The same as an exact decimal.' },
    cost_details: objectSchema(
      { upstream_inference_prompt_cost: usd, upstream_inference_completions_cost: usd },
      { description: 'What the provider charges, in USD, also where a key of the client’s own pays it.' },
    ),
    is_byok: { ...flag, description: 'A key of the client’s own paid the provider.' },
    provider: { ...text, description: 'The id of the provider that served.' },
    model: { ...text, description: 'The catalogue id of the model that served.' },
    attempts: { ...count, description: 'Provider calls made for this answer.' },
    cache_hit: { ...flag, description: 'The answer came from the response cache.' },
    estimated: {
      ...flag,
      description:
        'The provider gave no usable counts: these are estimated from bytes of text and the sizes of media, or cut to what the call can have used.',
    },
  },
  {
    optional: ['prompt_tokens', 'completion_tokens', 'total_tokens', 'estimated'],
    description: 'The usage of the provider, with members of the gateway.',
  },
);

const functionResult = objectSchema(
  {
    function_id: text,
    revision_id: text,
    fallback_used: { ...flag, description: 'A fallback model produced the result.' },
    execution_id: { ...text, format: 'uuid', description: 'A UUID of version 7.' },
  },
  { description: 'Of function calls only.' },
);

const choice = objectSchema(
  { index: count, message: { type: 'object' }, finish_reason: { type: ['string', 'null'] } },
  { optional: ['index', 'finish_reason'] },
);

const completionHead = { id: text, object: text, created: { type: 'integer' }, model: text };

const chatCompletion = objectSchema(
  {
    ...completionHead,
    choices: arrayOf(choice, { minItems: 1 }),
    usage: schemaReference('Usage'),
    gw: schemaReference('FunctionResult'),
  },
  { optional: [...Object.keys(completionHead), 'gw'], description: 'A standard `chat.completion`.' },
);

const chunk = objectSchema(
  { ...completionHead, choices: arrayOf({ type: 'object' }), usage: { type: ['object', 'null'] } },
  {
    optional: [...Object.keys(completionHead), 'choices', 'usage'],
    description:
      'A standard `chat.completion.chunk`, byte for byte as the provider sent it, less reasoning where `reasoning.exclude` is set. With `usage.include` one more chunk comes from the gateway.',
  },
);

const streamError = objectSchema(
  { error: objectSchema({ code: { ...text, enum: midStreamCodes }, message: text }) },
  { description: 'Says how a stream broke after its first output. Behind it comes at most the end marker.' },
);

const reason = { ...text, enum: rejectionReasons, description: 'Only on 400: what every provider objected to.' };
const detail = objectSchema(
  { attempts: count },
  { description: 'Only on schema_validation_failed: provider calls made.' },
);

const errorEnvelope = objectSchema(
  {
    error: { ...text, enum: Object.keys(errorCatalogue), description: 'The stable code: branch on it.' },
    message: { ...text, description: 'For people. May change.' },
    correlation_id: { ...text, format: 'uuid', description: 'Also the header x-request-id, and in the log.' },
    reason,
    detail,
  },
  { optional: ['reason', 'detail'] },
);

const openAiError = objectSchema(
  {
    error: objectSchema(
      {
        message: text,
        type: { ...text, description: 'The kind of error, as OpenAI names it.' },
        code: { ...text, description: 'The stable code, but `context_length_exceeded` where that is the reason.' },
        param: { type: ['string', 'null'], description: 'The member of the request that is at fault, as a path.' },
        reason,
        detail,
      },
      { optional: ['reason', 'detail'] },
    ),
    message: text,
    correlation_id: { ...text, format: 'uuid' },
  },
  { description: 'The same with the header `X-Gw-Error-Format: openai`, and below `/openai/v1`.' },
);

const price = { ...decimal, description: 'USD per million tokens, as an exact decimal. "0" where no price is set.' };
const unitPrice = (unit: string) => ({ ...decimal, description: `USD for ${unit}. Left out: it has no such price.` });
const unitPrices: MembersOf<UnitPricesObject> = {
  output_price_per_image: unitPrice('an image of any size and quality'),
  image_prices: {
    type: 'object',
    additionalProperties: decimal,
    description: 'USD for an image, by `SIZE/QUALITY`, `SIZE`, or `default`.',
  },
  input_price_per_character: unitPrice('a character of the input'),
  input_price_per_second: unitPrice('a second of the input'),
  price_per_request: unitPrice('each call, beside the rest'),
};
const limit = { type: ['integer', 'null'], minimum: 0, description: 'Null: no such limit is set.' };

const supportedParams: MembersOf<ProviderEntryObject['supported_params']> = {
  tools: flag,
  vision: flag,
  json_mode: flag,
  json_schema: flag,
};

const providerEntry: MembersOf<ProviderEntryObject> = {
  provider: { ...text, description: 'For `provider.only`, `order` and `ignore`.' },
  provider_display_name: text,
  input_price_per_million: price,
  output_price_per_million: price,
  ...unitPrices,
  context_length: { ...count, description: 'In tokens.' },
  routable: flag,
  supported_params: objectSchema(supportedParams),
  rate_limit_rpm: limit,
  rate_limit_tpm: limit,
  rate_limit_tpd: limit,
  max_output_tokens: count,
};

const stats: MembersOf<StatsObject> = {
  median_latency_ms: { type: 'number', minimum: 0 },
  throughput_rpm: { ...decimal, description: 'Requests per minute.' },
  uptime: { ...decimal, description: 'The part of calls that succeeded, from 0 to 1.' },
};

const model: MembersOf<ModelObject> = {
  id: { ...text, description: 'For `model` of a chat completion.' },
  object: { const: 'model' },
  created: { type: 'integer', description: 'Seconds since 1970.' },
  owned_by: { const: brand },
  display_name: text,
  context_length: { ...count, description: 'In tokens.' },
  input_price_per_million: price,
  output_price_per_million: price,
  ...unitPrices,
  modalities: arrayOf(text),
  routable: {
    ...flag,
    description:
      '`false`: a call would get `model_not_routable`, or `no_policy_compliant_provider` by the policy of the workspace.',
  },
  apis: arrayOf(
    { enum: listedInterfaceIds },
    { description: 'The interfaces that serve it. Left out where it is chat completions alone.', minItems: 1 },
  ),
  translated_apis: arrayOf(
    { enum: listedInterfaceIds },
    { description: 'Those of them in which a call is translated at every provider.', minItems: 1 },
  ),
  providers: arrayOf(schemaReference('ProviderEntry')),
  stats: schemaReference('Stats'),
};

const auto = Object.fromEntries(Object.entries(autoModelObject).map(([name, value]) => [name, { const: value }]));

const functionModel: MembersOf<FunctionModelObject> = {
  id: { ...text, description: '`gw/function/ID`, for `model` of a chat completion.' },
  object: { const: 'model' },
  created: { type: 'integer', description: 'When its active revision was activated, in seconds since 1970.' },
  owned_by: { const: brand },
  display_name: text,
  kind: { enum: ['prompt', 'workflow'] },
  revision: { ...text, description: 'The active one.' },
  expires_at: { type: ['string', 'null'], format: 'date-time' },
};

const modelList: MembersOf<ModelListObject> = {
  object: { const: 'list' },
  data: {
    ...arrayOf({ anyOf: ['Model', 'FunctionModel'].map(schemaReference) }, { minItems: 1 }),
    description:
      '`auto` first, then every model that the workspace can route to, then the functions that were asked for.',
    prefixItems: [schemaReference('AutoModel')],
  },
};

const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
const unknown: JsonSchema = { type: 'null' };

const anthropicModel: MembersOf<AnthropicModelObject> = {
  type: { const: 'model' },
  id: text,
  display_name: text,
  created_at: { type: 'string', format: 'date-time' },
  lifecycle: { const: 'active' },
  line: unknown,
  max_input_tokens: nullable('integer'),
  max_tokens: nullable('integer'),
  capabilities: unknown,
  deprecated_at: unknown,
  retires_at: unknown,
};

const anthropicPage: MembersOf<AnthropicModelPage> = {
  data: arrayOf(schemaReference('AnthropicModel')),
  has_more: { type: 'boolean' },
  first_id: nullable('string'),
  last_id: nullable('string'),
};

/** Returns a schema that allows no other fields. */
const closed = (...described: Parameters<typeof objectSchema>): JsonSchema => ({
  ...objectSchema(...described),
  additionalProperties: false,
});

export const componentSchemas: Readonly<Record<string, JsonSchema>> = {
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chunk,
  StreamError: streamError,
  Usage: usage,
  FunctionResult: functionResult,
  Error: errorEnvelope,
  OpenAiError: openAiError,
  ModelList: objectSchema(modelList),
  AutoModel: closed(auto),
  Model: closed(model, { optional: ['apis', 'translated_apis', ...Object.keys(unitPrices)] }),
  FunctionModel: closed(functionModel),
  AnthropicModel: closed(anthropicModel),
  AnthropicModelPage: closed(anthropicPage),
  ProviderEntry: closed(providerEntry, { optional: Object.keys(unitPrices) }),
  Stats: closed(stats),
};
