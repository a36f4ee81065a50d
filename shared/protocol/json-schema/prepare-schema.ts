// From a schema as a client sent it to one that values can be checked against.
import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { runBounded } from './bounded-run.ts';
import { evaluationsPerValueMax, probingMaxMs, referencesMaxMs, schemaMaxBytes, schemaMaxDepth } from './bounds.ts';
import { type Draft, readDraft } from './draft.ts';
import { evaluationCounter, type Lookup, referenceTarget } from './evaluation-count.ts';
import { nestsDeeperThan, plainCopy } from './json-value.ts';
import { probePattern } from './patterns.ts';
import { type ReadSchema, readSchema } from './read-schema.ts';
import { joinPath, UnusableSchema } from './unusable-schema.ts';

/** Why a schema cannot be used, with its place in the schema. */
export interface SchemaFault {
  readonly message: string;
}

export interface PreparedSchema {
  readonly schema: Schema | boolean;
  readonly draft: Draft;
  readonly lookup: Lookup;
}

/** Nothing outlives the schema it belongs to: distinct schemas, however many, leave nothing behind. */
const preparedSchemas = new WeakMap<object, PreparedSchema>();

/** Prepares the same object once only. */
export function prepareSchema(schema: unknown): PreparedSchema | SchemaFault {
  const isObject = typeof schema === 'object' && schema !== null;
  const known = isObject ? preparedSchemas.get(schema) : undefined;
  if (known !== undefined) return known;
  try {
    const prepared = prepare(schema);
    if (isObject) preparedSchemas.set(schema, prepared);
    return prepared;
  } catch (cause) {
    if (cause instanceof UnusableSchema) return { message: cause.message };
    throw cause;
  }
}

function prepare(schema: unknown): PreparedSchema {
  if (nestsDeeperThan(schema, schemaMaxDepth)) {
    throw new UnusableSchema('', `must not nest deeper than ${schemaMaxDepth} levels`);
  }
  const plain = plainCopy(schema);
  if (plain === undefined) throw new UnusableSchema('', 'must be an object or a boolean');
  if (plain.bytes > schemaMaxBytes) throw new UnusableSchema('', `must not be larger than ${schemaMaxBytes} bytes`);
  const { read, draft } = readAsDraft(plain.copy);
  const resolving = runBounded(() => resolveReferences(read, draft), referencesMaxMs);
  if (resolving.kind !== 'done') throw new UnusableSchema('', 'is too entangled to be resolved');
  probePatterns(read);
  return { schema: read.schema, draft, lookup: resolving.value };
}

/** Without `$schema` it is 2020-12, or else draft 7 where its `items` are a list, as only draft 7 has them. */
function readAsDraft(schema: unknown): { readonly read: ReadSchema; readonly draft: Draft } {
  const named = readDraft(schema);
  const draft = named ?? '2020-12';
  try {
    return { read: readSchema(schema, draft), draft };
  } catch (cause) {
    if (named !== undefined || !(cause instanceof UnusableSchema) || !cause.isListOfItems) throw cause;
    return { read: readSchema(schema, '7'), draft: '7' };
  }
}

function resolveReferences({ schema, places }: ReadSchema, draft: Draft): Lookup {
  const lookup = findSchemas(schema);
  const count = evaluationCounter(lookup, draft);
  for (const [place, path] of places) {
    if (place.$ref !== undefined && referenceTarget(place, lookup) === undefined) {
      throw new UnusableSchema(joinPath(path, '$ref'), 'must point at a schema inside this schema');
    }
    if (count(place) > evaluationsPerValueMax) {
      throw new UnusableSchema(path, `must not apply more than ${evaluationsPerValueMax} subschemas to one value`);
    }
  }
  // Once for nothing: a chain of references beyond the stack shows here, not in an answer that was paid for.
  validate(null, schema, draft, lookup);
  return lookup;
}

function findSchemas(schema: Schema | boolean): Lookup {
  try {
    return dereference(schema as Schema);
  } catch (cause) {
    // Its own words for two schemas with one URI repeat what the client wrote.
    if (/^Duplicate schema URI/.test((cause as Error).message)) throw new UnusableSchema('', 'has the same $id twice');
    throw cause;
  }
}

function probePatterns({ patterns }: ReadSchema): void {
  let current = '';
  const probing = runBounded(() => {
    for (const [source, path] of patterns) {
      current = path;
      probePattern(source);
    }
  }, probingMaxMs);
  if (probing.kind !== 'done') throw new UnusableSchema(current, 'must be a regular expression that ends soon');
}
