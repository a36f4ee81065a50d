// Generates an instance of a simple JSON Schema, as a model with structured output would answer it. It is
// deterministic. Patterns, conditions and unevaluated properties are ignored.

type Schema = Readonly<Record<string, unknown>>;

const formats: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  time: '12:00:00Z',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '3b241101-e2bb-4255-8caf-4136c566a962',
};

/** From this depth on only required properties are generated, because a schema may refer to itself. */
const optionalDepth = 6;
/** Depth at which generation stops, because a schema that requires itself has no instance. */
const hardDepth = 32;

/** Maximum number of values and characters of one instance. */
const sizeMax = 1_000_000;

interface Making {
  readonly root: unknown;
  sizeLeft: number;
}

/** Returns an instance. Throws a RangeError if it would be larger than `sizeMax`. */
export const schemaInstance = (schema: unknown): unknown => instanceOf(schema, { root: schema, sizeLeft: sizeMax }, 0);

function take(making: Making, size: number): void {
  making.sizeLeft -= size;
  if (!(making.sizeLeft >= 0)) throw new RangeError(`an instance of the schema has more than ${sizeMax} characters`);
}

function instanceOf(value: unknown, making: Making, depth: number): unknown {
  take(making, 1);
  if (!isSchema(value) || depth > hardDepth) return value === true ? 'anything' : null;
  const schema = resolve(value, making.root);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const alternatives = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (alternatives !== undefined) return instanceOf(alternatives[0], making, depth + 1);
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, making, depth);
    case 'array':
      return arrayOf(schema, making, depth);
    case 'string':
      return stringOf(schema, making);
    case 'number':
    case 'integer':
      return numberOf(schema, typeOf(schema) === 'integer');
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** Follows a local reference and merges the schemas of `allOf`. */
function resolve(schema: Schema, root: unknown, hops = 0): Schema {
  if (typeof schema.$ref === 'string' && hops < hardDepth) {
    const target = schema.$ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, key) => (isSchema(at) ? at[key.replaceAll('~1', '/').replaceAll('~0', '~')] : {}), root);
    const { $ref: _followed, ...rest } = schema;
    return isSchema(target) ? { ...resolve(target, root, hops + 1), ...rest } : rest;
  }
  if (!Array.isArray(schema.allOf) || hops >= hardDepth) return schema;
  const parts = [schema, ...schema.allOf.filter(isSchema).map((part) => resolve(part, root, hops + 1))];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(members)),
    required: parts.flatMap(names),
  };
}

const members = (schema: Schema): Schema => (isSchema(schema.properties) ? schema.properties : {});
const names = (schema: Schema): readonly string[] => (Array.isArray(schema.required) ? schema.required : []);

function typeOf(schema: Schema): unknown {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== 'null') ?? 'null';
  if (schema.type !== undefined) return schema.type;
  if (schema.properties !== undefined || schema.required !== undefined) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

function objectOf(schema: Schema, making: Making, depth: number): unknown {
  const properties = members(schema);
  const memberNames = depth < optionalDepth ? [...Object.keys(properties), ...names(schema)] : names(schema);
  return Object.fromEntries(
    [...new Set(memberNames)].map((name) => [
      name,
      instanceOf(properties[name] ?? { type: 'string' }, making, depth + 1),
    ]),
  );
}

function arrayOf(schema: Schema, making: Making, depth: number): unknown {
  const first = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const atLeast = numeric(schema.minItems, depth < optionalDepth && isSchema(schema.items) ? 1 : 0);
  const length = Math.min(Math.max(atLeast, first.length), numeric(schema.maxItems, Number.POSITIVE_INFINITY));
  take(making, length);
  return Array.from({ length }, (_, index) => instanceOf(first[index] ?? schema.items ?? true, making, depth + 1));
}

const isSchema = (value: unknown): value is Schema =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const numeric = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

function stringOf(schema: Schema, making: Making): string {
  const text = formats[String(schema.format)] ?? 'text';
  const lengthMin = numeric(schema.minLength, 0);
  take(making, lengthMin);
  return text.padEnd(lengthMin, '.').slice(0, numeric(schema.maxLength, Number.POSITIVE_INFINITY));
}

/** Returns the number nearest to 1 that is valid, a multiple of `multipleOf` if the schema has it. */
function numberOf(schema: Schema, isInteger: boolean): number {
  const step = numeric(schema.multipleOf, isInteger ? 1 : 0.5);
  const above = numeric(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY);
  const below = numeric(schema.exclusiveMaximum, Number.POSITIVE_INFINITY);
  const lowest = Math.max(numeric(schema.minimum, above), above);
  const highest = Math.min(numeric(schema.maximum, below), below);
  const nearest = Math.ceil(Math.min(Math.max(1, lowest), highest) / step) * step;
  if (nearest <= above) return nearest + step;
  return nearest >= below || nearest > highest ? nearest - step : nearest;
}
