// Lists the subsets of JSON Schema that providers accept for a strict tool or answer. Each provider refuses the whole
// request for a keyword outside its subset.

import type { Strictness } from '../../../../protocol/hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';

interface Subset {
  readonly words: ReadonlySet<string>;
  /** True if every property must be required. */
  readonly requiresAll: boolean;
  /** True if a schema may refer to itself. */
  readonly isRecursive: boolean;
  /** Finds further faults of one schema, without the schemas inside that schema. */
  readonly refuses?: (schema: JsonObject) => boolean;
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/**
 * Subset of OpenAI: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, read on 2026-11-26,
 * and the output of `openai/helpers/zod`.
 */
const openAi: Subset = {
  words: wordsOf(
    '$defs $ref $schema additionalProperties anyOf const definitions description enum exclusiveMaximum exclusiveMinimum format items maxItems maximum minItems minimum multipleOf pattern properties required title type',
  ),
  requiresAll: true,
  isRecursive: true,
};

/** String formats that the SDK of Anthropic and its package of the AI SDK list. */
const claudeFormats = wordsOf('date-time time date duration email hostname uri ipv4 ipv6 uuid');

/**
 * Subset of Claude: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations,
 * read on 2026-11-26; a test compares it with the SDK of Anthropic and its package of the AI SDK.
 */
const claude: Subset = {
  words: wordsOf(
    '$defs $ref $schema additionalProperties anyOf const default definitions description enum format items minItems properties required title type',
  ),
  requiresAll: false,
  isRecursive: false,
  refuses: ({ minItems, enum: values, const: value, format }) =>
    (minItems !== undefined && minItems !== 0 && minItems !== 1) ||
    (format !== undefined && !claudeFormats.has(String(format))) ||
    (typeof value === 'object' && value !== null) ||
    (Array.isArray(values) && values.some((value) => typeof value === 'object' && value !== null)),
};

/** True if the schema is within the subset. It recurses within the depth of a body. */
function holds(schema: unknown, subset: Subset, isInDefinition = false): boolean {
  if (!isJsonObject(schema) || !Object.keys(schema).every((word) => subset.words.has(word))) return false;
  const { type, properties, required, items, anyOf, $ref: reference, additionalProperties: more } = schema;
  if (reference !== undefined && !subset.isRecursive && (isInDefinition || reference === '#')) return false;
  const propertySchemas = isJsonObject(properties) ? properties : {};
  if (type === 'object' || properties !== undefined) {
    const needed = new Set(Array.isArray(required) ? required : []);
    const isClosed =
      more === false && (!subset.requiresAll || Object.keys(propertySchemas).every((name) => needed.has(name)));
    if (!isClosed) return false;
  }
  if (subset.refuses?.(schema) === true) return false;
  const inside = [
    ...Object.values(propertySchemas),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...(items === undefined ? [] : [items]),
  ];
  return (
    inside.every((one) => holds(one, subset, isInDefinition)) &&
    definitionsOf(schema).every((one) => holds(one, subset, true))
  );
}

const definitionsOf = ({ $defs: defs, definitions }: JsonObject): readonly unknown[] =>
  [defs, definitions].flatMap((named) => (isJsonObject(named) ? Object.values(named) : []));

const isObjectSchema = (schema: unknown): boolean => isJsonObject(schema) && schema.type === 'object';

export const openAiStrictness: Strictness = {
  holds: (schema) => isObjectSchema(schema) && holds(schema, openAi),
  toolsMax: Number.POSITIVE_INFINITY,
  // Every property is required.
  optionalOf: () => 0,
  optionalMax: Number.POSITIVE_INFINITY,
};

export const claudeStrictness: Strictness = {
  holds: (schema) => isObjectSchema(schema) && holds(schema, claude),
  toolsMax: 20,
  optionalOf,
  // The bound is from https://github.com/strands-agents/harness-sdk/issues/2664, read on 2026-11-26.
  optionalMax: 24,
};

/** Counts optional properties. It recurses within the depth of a body. A schema to which others refer counts once. */
function optionalOf(schema: unknown): number {
  if (!isJsonObject(schema)) return 0;
  const { properties, required, items, anyOf } = schema;
  const propertySchemas = isJsonObject(properties) ? properties : {};
  const needed = new Set(Array.isArray(required) ? required : []);
  const count = Object.keys(propertySchemas).filter((name) => !needed.has(name)).length;
  const inside = [
    ...Object.values(propertySchemas),
    ...(Array.isArray(anyOf) ? anyOf : []),
    items,
    ...definitionsOf(schema),
  ];
  return inside.reduce<number>((sum, one) => sum + optionalOf(one), count);
}
