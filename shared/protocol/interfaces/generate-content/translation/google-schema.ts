// Google's form of a schema as JSON Schema: types in capitals, `nullable`, counts that may be texts.
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';

const countFields: ReadonlySet<string> = new Set([
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'],
]);
/** Of Google's alone. */
const otherFields: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering', 'example']);
/** Formats that say how a value is kept, which no JSON Schema knows. */
const otherFormats: ReadonlySet<unknown> = new Set(['enum', 'float', 'double', 'int32', 'int64']);

/** Recursive within the depth of a body. */
export function toJsonSchema(schema: unknown): JsonObject {
  if (!isJsonObject(schema)) return {};
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (otherFields.has(name) || (name === 'format' && otherFormats.has(value))) continue;
    if (name === 'type') Object.assign(read, typeOf(value, schema.nullable === true));
    else if (name === 'properties' && isJsonObject(value)) {
      read[name] = Object.fromEntries(
        Object.entries(value).map(([property, inner]) => [property, toJsonSchema(inner)]),
      );
    } else if (name === 'items') read[name] = toJsonSchema(value);
    else if (name === 'anyOf' && Array.isArray(value)) read[name] = anyOf(value, schema);
    else if (name === 'enum' && Array.isArray(value)) read[name] = schema.nullable === true ? [...value, null] : value;
    else if (countFields.has(name) && typeof value === 'string') read[name] = Number(value);
    else read[name] = value;
  }
  return read;
}

const anyOf = (schemas: readonly unknown[], { nullable, type }: JsonObject): readonly unknown[] => [
  ...schemas.map(toJsonSchema),
  ...(nullable === true && type === undefined ? [{ type: 'null' }] : []),
];

function typeOf(type: unknown, isNullable: boolean): { readonly type?: unknown } {
  if (typeof type !== 'string') return type === undefined ? {} : { type };
  if (type === 'TYPE_UNSPECIFIED') return {};
  const name = type.toLowerCase();
  return { type: isNullable && name !== 'null' ? [name, 'null'] : name };
}
