// What GET /v1/models answers with. Typed member by member after the wire objects: a new member does not compile without
// its schema.
import { brand } from '../../shared/foundation/constants/index.ts';
import {
  autoModelObject,
  type ModelListObject,
  type ModelObject,
  type ProviderEntryObject,
  type StatsObject,
} from '../../shared/protocol/wire/index.ts';
import { arrayOf, type JsonSchema, objectSchema, schemaReference } from './json-schema.ts';

type MembersOf<Wire> = { readonly [Member in keyof Required<Wire>]: JsonSchema };

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const decimal = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };
const price = { ...decimal, description: 'USD per million tokens, as an exact decimal. "0" where no price is set.' };
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
  modalities: arrayOf(text),
  routable: { ...flag, description: '`false`: a call would get `model_not_routable`.' },
  providers: arrayOf(schemaReference('ProviderEntry')),
  stats: schemaReference('Stats'),
};

const auto: MembersOf<typeof autoModelObject> = {
  id: { const: autoModelObject.id },
  object: { const: autoModelObject.object },
  created: { const: autoModelObject.created },
  owned_by: { const: autoModelObject.owned_by },
};

const modelList: MembersOf<ModelListObject> = {
  object: { const: 'list' },
  data: {
    type: 'array',
    description: '`auto` first, then every model that the workspace can route to.',
    prefixItems: [schemaReference('AutoModel')],
    items: schemaReference('Model'),
    minItems: 1,
  },
};

export const modelSchemas: Readonly<Record<string, JsonSchema>> = {
  ModelList: objectSchema(modelList),
  AutoModel: { ...objectSchema(auto), additionalProperties: false },
  Model: { ...objectSchema(model), additionalProperties: false },
  ProviderEntry: { ...objectSchema(providerEntry), additionalProperties: false },
  Stats: { ...objectSchema(stats), additionalProperties: false },
};
