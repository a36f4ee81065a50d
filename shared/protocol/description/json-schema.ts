// Defines the small part of JSON Schema and OpenAPI that this folder writes.

/** A JSON Schema of draft 2020-12, as in OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schema of every field of a wire object, so that a new field does not compile without its schema. */
export type MembersOf<Wire> = { readonly [Member in keyof Required<Wire>]: JsonSchema };

export const text = { type: 'string' };
export const flag = { type: 'boolean' };
export const count = { type: 'integer', minimum: 0 };
export const decimal = { type: 'string', pattern: '^\\d+(\\.\\d+)?$' };

export const schemaReference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Describes an object with these fields, all required unless `optional` names them. More fields are always allowed. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  { optional = [], ...more }: { readonly optional?: readonly string[]; readonly description?: string } = {},
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...more, properties, ...(required.length === 0 ? {} : { required }) };
}

export const arrayOf = (items: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'array', items, ...more });
