// The body of a chat completion: the schema the gateway checks with, refined by what it checks in code, with words.
import { chatRequestJsonSchema } from '../../shared/protocol/wire/index.ts';
import type { JsonSchema } from './json-schema.ts';
import { memberDescriptions } from './member-descriptions.ts';

/** What `parseUsd` takes. */
const decimalString = { pattern: '^\\d{1,15}(\\.\\d{1,12})?$' };
const isSet = { not: { type: 'null' } };

/** Path of a member → type of the branch of its union (`any`: no type) → keywords to add. */
const refinements: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  'provider.sort': { any: { enum: ['price', 'latency', 'throughput', null] } },
  'provider.max_price': { string: decimalString },
  'provider.max_price.prompt': { string: decimalString },
  'provider.max_price.completion': { string: decimalString },
  reasoning: {
    object: { not: { required: ['effort', 'max_tokens'], properties: { effort: isSet, max_tokens: isSet } } },
  },
  response_format: {
    object: {
      if: { properties: { type: { const: 'json_schema' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: {
        required: ['json_schema'],
        properties: {
          json_schema: {
            type: 'object',
            required: ['schema'],
            properties: { schema: { type: ['object', 'boolean'] } },
          },
        },
      },
    },
  },
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

/** A union inside a union is one union. */
const branchesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  Array.isArray(schema.anyOf) ? schema.anyOf.flatMap(branchesOf) : [schema];

function refineBranch({ properties, items, additionalProperties, ...rest }: JsonSchema, path: string): JsonSchema {
  const added = refinements[path]?.[typeof rest.type === 'string' ? rest.type : 'any'] ?? {};
  return {
    ...rest,
    ...(properties === undefined ? {} : { properties: refineMembers(properties as JsonSchema, path) }),
    ...(items === undefined ? {} : { items: refine(items as JsonSchema, `${path}[]`) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: true }),
    ...added,
  };
}

function refineMembers(properties: JsonSchema, path: string): JsonSchema {
  const prefix = path === '' ? '' : `${path}.`;
  const members = Object.entries(properties);
  return Object.fromEntries(members.map(([name, member]) => [name, refine(member as JsonSchema, prefix + name)]));
}
