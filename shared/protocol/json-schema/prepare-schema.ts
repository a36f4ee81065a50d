// From a schema as a client sent it to one that values can be checked against. Plain synchronous work: the caller bounds it.
import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { joinPath, jsonText, nestsDeeperThan, UnusableSchema } from './json-value.ts';
import { readDraft, type SchemaDraft, validatorDraft } from './keywords.ts';
import { probePattern, weightOf } from './patterns.ts';
import { type ReadSchema, readSchema } from './read-schema.ts';
import { schemaMaxBytes, schemaMaxDepth } from './schema-bounds.ts';

/** Why a schema cannot be used, with its place in the schema. */
export interface SchemaFault {
  readonly message: string;
}

/** The schemas of one document by URI. */
type Lookup = Record<string, Schema | boolean>;

export interface PreparedSchema {
  readonly schema: Schema | boolean;
  readonly draft: ReturnType<typeof validatorDraft>;
  readonly lookup: Lookup;
  /** Subschemas that want lists without repeated items. */
  readonly wantUnique: readonly Schema[];
}

export interface Preparing {
  /** Bound of the total weight of its patterns; above it PatternsTooHeavy is thrown before one more is compiled. */
  readonly patternWeightMax: number;
  /** The fault to report should the time end during the current step. */
  fault: UnusableSchema;
}

export class PatternsTooHeavy extends Error {}

/** Throws UnusableSchema, or PatternsTooHeavy. */
export function prepareSchema(value: unknown, preparing: Preparing): PreparedSchema {
  const { schema: copy, draft } = copySchema(value);
  let weight = 0;
  const weigh = (source: string, path: string): void => {
    weight += weightOf(source);
    if (weight > preparing.patternWeightMax) throw new PatternsTooHeavy();
    preparing.fault = new UnusableSchema(path, 'must be a regular expression that is compiled soon');
  };
  const read = readAsDraft(copy, draft, weigh);
  preparing.fault = new UnusableSchema('', 'is too entangled to be resolved');
  const lookup = resolveReferences(read.read, read.draft);
  for (const [source, path] of read.read.patterns) {
    preparing.fault = new UnusableSchema(path, 'must be a regular expression that ends soon');
    probePattern(source);
  }
  const wantUnique = [...read.read.places.keys()].filter(({ uniqueItems }) => uniqueItems === true);
  return { schema: read.read.schema, draft: validatorDraft(read.draft), lookup, wantUnique };
}

function copySchema(value: unknown): { readonly schema: unknown; readonly draft: SchemaDraft | undefined } {
  if (nestsDeeperThan(value, schemaMaxDepth)) {
    throw new UnusableSchema('', `must not nest deeper than ${schemaMaxDepth} levels`);
  }
  const text = jsonText(value);
  if (text === undefined) throw new UnusableSchema('', 'must be an object or a boolean');
  if (Buffer.byteLength(text) > schemaMaxBytes) {
    throw new UnusableSchema('', `must not be larger than ${schemaMaxBytes} bytes`);
  }
  const schema: unknown = JSON.parse(text);
  return { schema, draft: readDraft(schema) };
}

/** Without `$schema` it is 2020-12, or else draft 7 where its `items` are a list, as 2020-12 has them not. */
function readAsDraft(
  schema: unknown,
  named: SchemaDraft | undefined,
  beforePattern: (source: string, path: string) => void,
): { readonly read: ReadSchema; readonly draft: SchemaDraft } {
  const draft = named ?? '2020-12';
  try {
    return { read: readSchema(schema, draft, beforePattern), draft };
  } catch (cause) {
    if (named !== undefined || !(cause instanceof UnusableSchema) || !cause.isListOfItems) throw cause;
    return { read: readSchema(schema, '7', beforePattern), draft: '7' };
  }
}

function resolveReferences({ schema, places }: ReadSchema, draft: SchemaDraft): Lookup {
  const lookup = findSchemas(schema);
  for (const [place, path] of places) {
    if (place.$ref !== undefined && referenceTarget(place, lookup) === undefined) {
      throw new UnusableSchema(joinPath(path, '$ref'), 'must point at a schema inside this schema');
    }
  }
  // Runs the schema on null, to the end also where it fails: a schema that refers to itself, doubles at every step or
  // exceeds the stack fails here, not in an answer that was paid for.
  validate(null, schema, validatorDraft(draft), lookup, false);
  return lookup;
}

function findSchemas(schema: Schema | boolean): Lookup {
  try {
    return dereference(schema as Schema);
  } catch (cause) {
    // The validator's message for two schemas with one URI quotes the client.
    if (/^Duplicate schema URI/.test((cause as Error).message)) throw new UnusableSchema('', 'has the same $id twice');
    throw cause;
  }
}

/** The schema that the `$ref` of a schema means, once the validator has resolved it. */
const referenceTarget = (schema: Schema, lookup: Lookup): Schema | boolean | undefined =>
  lookup[schema.__absolute_ref__ ?? ''];
