// Describes the body of a chat completion: the gateway's schema, refined by its checks in code, with descriptions.

import type { JsonSchema } from '../../../shared/protocol/description/index.ts';
import {
  chatRequestJsonSchema,
  schemaCarrierJsonSchema,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';

const { $schema: _carrierDialect, ...schemaCarrier } = schemaCarrierJsonSchema();
const isSet = { not: { type: 'null' } };

/** Maps the path of a field to keywords that are added if the field is an object. */
const refinements: Readonly<Record<string, JsonSchema>> = {
  '': {
    if: { not: { anyOf: [{ required: ['model'] }, { required: ['preset'], properties: { preset: isSet } }] } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ['models'], properties: { models: isSet } },
  },
  reasoning: { not: { required: ['effort', 'max_tokens'], properties: { effort: isSet, max_tokens: isSet } } },
  response_format: {
    if: { properties: { type: { const: 'json_schema' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ['json_schema'], properties: { json_schema: schemaCarrier } },
  },
};

/**
 * Description of each field of the request body, by its path; the empty path is the body. A test checks that every
 * field has a description.
 */
export const memberDescriptions: Readonly<Record<string, string>> = {
  '': 'The standard chat-completions body, of at most 100,000 JSON values and 64 levels. A member that is not listed reaches the provider as it was sent, unless its name differs from a listed one only in letter case: then the request is refused. `null` stands for an absent member.',
  model:
    'An id of `GET /v1/models`, `auto`, or a stored function: `gw/function/<id>` or `gw/function/<id>@<revision>`. May be left out where `models` is sent, or the preset brings one.',
  models: 'Ids tried in this order after `model`, when all providers of the former failed before output.',
  'models[]': 'An id of `GET /v1/models`.',
  messages: 'The conversation, in the standard form.',
  'messages[]': 'A standard message: content as text or parts, tool calls and tool results included.',
  'messages[].role': '`system`, `developer`, `user`, `assistant` or `tool`.',
  stream: 'Server-sent events in place of one JSON answer.',
  stream_options: 'Standard options of a stream.',
  'stream_options.include_usage':
    'Relays the usage chunk of the provider; one of estimated usage where the provider sends none.',
  temperature: 'Reaches the provider.',
  top_p: 'Reaches the provider.',
  max_tokens: 'The most tokens of output. The worst case of a call is counted from it.',
  max_completion_tokens: 'The newer name of `max_tokens`. Where several names are sent, the largest bound counts.',
  max_output_tokens: 'Another name of `max_tokens`. One that is no positive integer means the limit of the model.',
  max_new_tokens: 'Another name of `max_tokens`. One that is no positive integer means the limit of the model.',
  n_predict: 'Another name of `max_tokens`. One that is no positive integer means the limit of the model.',
  max_length: 'Another name of `max_tokens`. One that is no positive integer means the limit of the model.',
  best_of: 'Above `n`: only where the operator allows it, because it costs more than the prices of the catalogue.',
  service_tier: 'Other than `auto`, `default` or `flex`: only where the operator allows it, because it costs more.',
  web_search_options: 'Only where the operator allows it, because it costs more than the prices of the catalogue.',
  plugins: 'Only where the operator allows it, because it costs more than the prices of the catalogue.',
  n: 'How many choices to make.',
  stop: 'Where the output ends.',
  'stop[]': 'One of the texts at which the output ends.',
  tools: 'Only providers that support tools are asked.',
  'tools[]': 'A standard tool.',
  response_format:
    'With type `json_schema` the answer is checked against `json_schema.schema`, and asked for again at most twice.',
  'response_format.type': '`text`, `json_object` or `json_schema`.',
  usage: 'What the client wants to know of the cost.',
  'usage.include': 'Adds one chunk with the merged usage at the end of a stream. A JSON answer always has it.',
  provider:
    'Which providers may serve, in which order, under which policy. Members that are not listed are refused: a restriction that is not understood must not be dropped.',
  'provider.sort':
    'What comes first. Without it, and without `order`: the lowest price. Providers that failed lately come last.',
  'provider.max_price':
    'The highest prices in USD, compared with all that this call can be billed by: a number for a million tokens of prompt and of completion, or one each. A unit with a price (request, image, second, character) needs a cap of its own.',
  'provider.max_price.prompt':
    'For a million tokens of the prompt: at the tier that it can reach, and of images, sound and cache writes where it has them.',
  'provider.max_price.completion': 'For a million tokens of the output, of whatever kind.',
  'provider.max_price.request': 'For a request.',
  'provider.max_price.image': 'For an image of the size and quality that are asked for.',
  'provider.max_price.second': 'For a second of sound.',
  'provider.max_price.character': 'For a million characters.',
  'provider.only': 'These providers and no other.',
  'provider.only[]': 'The id of a provider.',
  'provider.order': 'These providers first, in this order.',
  'provider.order[]': 'The id of a provider.',
  'provider.ignore': 'Not these providers.',
  'provider.ignore[]': 'The id of a provider.',
  'provider.allow_fallbacks': '`false` together with `order`: those and no other.',
  'provider.require_parameters': 'Accepted: it is always so.',
  'provider.zdr': '`true`: only providers that declare to keep no data.',
  'provider.data_collection': '`deny`: only providers that declare not to collect data.',
  'provider.data_residency': 'Only providers whose declared regions all lie in these.',
  'provider.data_residency[]': 'A region such as `eu` or `us`, or an ISO country code, in lower case.',
  cache: 'Answers given before to the same request of the workspace. Left out: off.',
  'cache.enabled': 'Default `true` where `cache` is sent.',
  'cache.ttl': 'How long an answer may be given again, in seconds. Default 300.',
  'cache.refresh': 'Asks a provider all the same, and stores the new answer.',
  'cache.namespace': 'Keeps answers apart that would otherwise be the same.',
  preset:
    'Members stored under a slug; the request wins where both have one, in `provider` member by member. `slug`, `slug@version` or an object.',
  'preset.slug': 'The slug of a preset of the workspace.',
  'preset.version': 'Left out: the designated version.',
  reasoning: 'How much the model should think, sent in the style of each provider. Either `effort` or `max_tokens`.',
  'reasoning.effort': 'How hard to think.',
  'reasoning.max_tokens': 'The most tokens for thinking.',
  'reasoning.exclude': 'Leaves the reasoning out of the answer.',
  'reasoning.enabled': 'Switches thinking on or off where the provider knows both.',
  'reasoning.summary': 'How long a summary of the reasoning to ask for.',
};

export function requestBodySchema(): JsonSchema {
  const { $schema: _dialect, ...schema } = chatRequestJsonSchema();
  return refine(schema, '');
}

function refine(schema: JsonSchema, path: string): JsonSchema {
  const branches = branchesOf(schema).map((branch) => refineBranch(branch, path));
  const description = memberDescriptions[path];
  return {
    ...(description === undefined ? {} : { description }),
    ...(branches.length === 1 ? branches[0] : { anyOf: branches }),
  };
}

/** Returns the branches of a union, including the branches of a union inside it. */
const branchesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(branchesOf) : [schema];

function refineBranch({ properties, items, additionalProperties, ...rest }: JsonSchema, path: string): JsonSchema {
  const refinement = rest.type === 'object' ? refinements[path] : {};
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: refineMembers(properties as JsonSchema, path) }),
    ...(items === undefined ? {} : { items: refine(items as JsonSchema, `${path}[]`) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: additionalProperties !== false }),
    ...refinement,
  };
}

function refineMembers(properties: JsonSchema, path: string): JsonSchema {
  const prefix = path === '' ? '' : `${path}.`;
  const members = Object.entries(properties);
  return Object.fromEntries(members.map(([name, member]) => [name, refine(member as JsonSchema, prefix + name)]));
}
