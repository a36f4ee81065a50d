// Checks JSON Schemas for the subsets that two providers accept for strict tools.

type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Yields a schema and all schemas inside it. */
function* schemasIn(schema: unknown): Generator<Schema> {
  if (!isSchema(schema)) return;
  yield schema;
  const subschemas = [schema.properties, schema.$defs, schema.definitions].flatMap((one) =>
    isSchema(one) ? Object.values(one) : [],
  );
  const listed = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((one) => (Array.isArray(one) ? one : []));
  for (const inner of [...subschemas, ...listed, schema.items]) yield* schemasIn(inner);
}

/** Keywords that Anthropic's structured outputs refuse: limits of numbers, texts and lists. */
const unsupportedWords: Readonly<Record<string, readonly string[]>> = {
  integer: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  number: ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  string: ['maxLength', 'minLength'],
  array: ['maxItems', 'uniqueItems'],
};

/** Counts the optional parameters, whose number is limited for all strict tools together. */
export function optionalIn(schema: unknown): number {
  let count = 0;
  for (const { properties, required } of schemasIn(schema)) {
    const needed = new Set(Array.isArray(required) ? required : []);
    count += Object.keys(isSchema(properties) ? properties : {}).filter((name) => !needed.has(name)).length;
  }
  return count;
}

export function unsupportedByClaude(schema: unknown): string | undefined {
  for (const inner of schemasIn(schema)) {
    const type = String(inner.type);
    const words = (unsupportedWords[type] ?? []).filter((word) => word in inner);
    if (words.length > 0) return `For '${type}' type, properties ${words.join(', ')} are not supported`;
    if ('oneOf' in inner) return "Schema type 'oneOf' is not supported";
    if (inner.type === 'object' && inner.additionalProperties !== false) {
      return "For 'object' type, 'additionalProperties' must be explicitly set to false";
    }
  }
  return undefined;
}

/** Returns a fault under OpenAI's strict mode if an object is not closed. */
export function looseSchema(schema: unknown): string | undefined {
  for (const inner of schemasIn(schema)) {
    if (inner.type === 'object' && inner.additionalProperties !== false) {
      return "'additionalProperties' is required to be supplied and to be false.";
    }
  }
  return undefined;
}

/** Returns a fault under the same mode if a property is not required. */
export function lacksRequired(schema: unknown): string | undefined {
  for (const { properties, required } of schemasIn(schema)) {
    const needed = new Set(Array.isArray(required) ? required : []);
    const missing = Object.keys(isSchema(properties) ? properties : {}).find((name) => !needed.has(name));
    if (missing !== undefined) {
      return `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    }
  }
  return undefined;
}
