// Converts a schema from a client to a schema against which values can be checked. The work is synchronous, and the
// caller bounds it.
import { dereference, type Schema, validate } from '@cfworker/json-schema';
import { isObject, type JsonObject, joinPath, jsonText, nestsDeeperThan, UnusableSchema } from './json-value.ts';
import {
  isDraft,
  type Keyword,
  keywordOf,
  readDraft,
  refIsAlone,
  type SchemaDraft,
  validatorDraft,
} from './keywords.ts';
import { patternMaxCharacters, propertyClassWeight, schemaMaxBytes, schemaMaxDepth } from './schema-bounds.ts';

/** The reason why a schema cannot be used, with its position in the schema. */
export interface SchemaFault {
  readonly message: string;
}

/** The schemas of one document by URI. */
type Lookup = Record<string, Schema | boolean>;

export interface PreparedSchema {
  readonly schema: Schema | boolean;
  readonly draft: ReturnType<typeof validatorDraft>;
  readonly lookup: Lookup;
  /** Subschemas that require lists without repeated items. */
  readonly wantUnique: readonly Schema[];
}

export interface PreparationState {
  /**
   * Bound of the total weight of its patterns; above it PatternsTooHeavy is thrown before another pattern is compiled.
   */
  readonly patternWeightMax: number;
  /** The fault to report if the time ends during the current step. */
  fault: UnusableSchema;
}

export class PatternsTooHeavy extends Error {}

/** Prepares a schema. Throws UnusableSchema, or PatternsTooHeavy. */
export function prepareSchema(value: unknown, preparing: PreparationState): PreparedSchema {
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

/**
 * Reads the schema. Without `$schema` it is read as 2020-12, or as draft 7 if its `items` are a list, which 2020-12
 * does not allow.
 */
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
  // The schema is run on null, to the end even if it fails. So a schema that refers to itself, doubles at every step or
  // exceeds the stack fails before an answer is paid for.
  validate(null, schema, validatorDraft(draft), lookup, false);
  return lookup;
}

function findSchemas(schema: Schema | boolean): Lookup {
  try {
    return dereference(schema as Schema);
  } catch (cause) {
    // The validator's message about two schemas with one URI quotes the client.
    if (/^Duplicate schema URI/.test((cause as Error).message)) throw new UnusableSchema('', 'has the same $id twice');
    throw cause;
  }
}

/** Returns the schema to which a `$ref` refers, once the validator has resolved it. */
const referenceTarget = (schema: Schema, lookup: Lookup): Schema | boolean | undefined =>
  lookup[schema.__absolute_ref__ ?? ''];

// Reads an unchecked schema. Every keyword must be valid in its draft, and the result is a copy with keywords of that
// draft only. Rules that the validator does not know, or runs slowly, are rewritten to keywords that it runs well. The
// depth was bounded before.

interface ReadSchema {
  readonly schema: Schema | boolean;
  /** Every subschema of the copy with its path. */
  readonly places: ReadonlyMap<Schema, string>;
  /** Every pattern with its first path. */
  readonly patterns: ReadonlyMap<string, string>;
}

interface SchemaScan {
  readonly draft: SchemaDraft;
  /** Called with each pattern before it is compiled. */
  readonly beforePattern: (source: string, path: string) => void;
  readonly places: Map<Schema, string>;
  readonly patterns: Map<string, string>;
  /** Positions of the first embedded `$id` and of the first dynamic reference. */
  embeddedId?: string;
  dynamic?: string;
}

/** Reads the schema. Throws UnusableSchema at the first invalid keyword, and the errors of `beforePattern`. */
function readSchema(value: unknown, draft: SchemaDraft, beforePattern: SchemaScan['beforePattern']): ReadSchema {
  const reading: SchemaScan = { draft, beforePattern, places: new Map(), patterns: new Map() };
  const schema = readSubschema(value, '', reading);
  // In several resources the target of a dynamic reference depends on the path to it. In a single resource it is a
  // plain reference.
  if (reading.dynamic !== undefined && reading.embeddedId !== undefined) {
    throw new UnusableSchema(reading.dynamic, 'cannot be used beside an embedded $id');
  }
  return { schema, places: reading.places, patterns: reading.patterns };
}

function readSubschema(value: unknown, path: string, reading: SchemaScan): Schema | boolean {
  if (typeof value === 'boolean') return value;
  if (!isObject(value)) throw new UnusableSchema(path, 'must be an object or a boolean');
  if (value.$schema !== undefined && !isDraft(value.$schema, reading.draft)) {
    throw new UnusableSchema(joinPath(path, '$schema'), 'must be the same everywhere in the schema');
  }
  const copy: CopiedSchema = {};
  for (const [name, content] of Object.entries(value)) {
    const keyword = keywordOf(reading.draft, name);
    if (keyword === undefined) continue;
    const place = joinPath(path, name);
    if (!keyword.fits(content))
      throw new UnusableSchema(place, keyword.must, name === 'items' && Array.isArray(content));
    if (keyword.role !== 'annotation') copy[name] = readContent(content, keyword, place, reading);
  }
  if (dynamicKeywords.some((name) => copy[name] !== undefined)) reading.dynamic ??= path;
  for (const adaptedPlace of adaptKeywords(copy, path, reading.draft)) reading.places.set(adaptedPlace, path);
  if (copy.$id !== undefined && path !== '') reading.embeddedId ??= path;
  reading.places.set(copy, path);
  return copy;
}

const dynamicKeywords = ['$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];

function readContent(content: unknown, keyword: Keyword, path: string, reading: SchemaScan): unknown {
  if (keyword.role === 'pattern') return notePattern(content as string, path, reading);
  if (keyword.holds === undefined) return content;
  if (keyword.holds.startsWith('members')) return readMembers(content as JsonObject, keyword, path, reading);
  if (!Array.isArray(content)) return readSubschema(content, path, reading);
  return content.map((item, index) => readSubschema(item, joinPath(path, index), reading));
}

function readMembers(members: JsonObject, { role, holds }: Keyword, path: string, reading: SchemaScan): object {
  const read = Object.entries(members).map(([name, member]): [string, unknown] => {
    const place = joinPath(path, name);
    const key = role === 'pattern_names' ? notePattern(name, place, reading) : name;
    const isNames = holds === 'members_or_names' && Array.isArray(member);
    return [key, isNames ? member : readSubschema(member, place, reading)];
  });
  // Fields are not assigned, because a field may be called __proto__.
  const copy = Object.fromEntries(read);
  if (Object.keys(copy).length === read.length) return copy;
  throw new UnusableSchema(path, 'has two members that are the same regular expression');
}

function notePattern(text: string, path: string, reading: SchemaScan): string {
  reading.beforePattern(text, path);
  const source = readPattern(text, path);
  if (!reading.patterns.has(source)) reading.patterns.set(source, path);
  return source;
}

/** One subschema of the copy: its keywords come from JSON and are valid in their draft. */
type CopiedSchema = Record<string, unknown>;

/** Changes the copy of one subschema. Returns the schemas that it added, which are counted like any other. */
function adaptKeywords(copy: CopiedSchema, path: string, draft: SchemaDraft): Schema[] {
  const additions: Schema[] = [];
  if (draft === '4') adaptDraft4(copy);
  // These drafts ignore keywords next to a $ref, but the validator would use the $id.
  if (refIsAlone(draft) && copy.$ref !== undefined) delete copy.$id;
  makeAnchorPlain(copy, path);
  delete copy.$recursiveAnchor;
  if (Array.isArray(copy.enum)) copy.enum = withShortText(copy.enum);
  move(copy, '$dynamicRef', '$ref', (reference) => reference, additions);
  move(copy, '$recursiveRef', '$ref', (reference) => reference, additions);
  move(copy, 'const', 'enum', (value) => withShortText([value]), additions);
  if (additions.length > 0) copy.allOf = [...((copy.allOf as Schema[] | undefined) ?? []), ...additions];
  return additions;
}

/** Adapts draft 4: later drafts have another name for `id`, and exclusive bounds of their own. */
function adaptDraft4(copy: CopiedSchema): void {
  if (copy.id !== undefined) copy.$id = copy.id;
  delete copy.id;
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const isExclusive = copy[flag] === true && copy[bound] !== undefined;
    delete copy[flag];
    if (!isExclusive) continue;
    copy[flag] = copy[bound];
    delete copy[bound];
  }
}

/** Renames `name` to `plainName`, in a schema of its own if that name is already used. */
function move(
  copy: CopiedSchema,
  name: string,
  plainName: string,
  convert: (value: unknown) => unknown,
  additions: Schema[],
): void {
  if (copy[name] === undefined) return;
  const value = convert(copy[name]);
  delete copy[name];
  if (copy[plainName] === undefined) copy[plainName] = value;
  else additions.push({ [plainName]: value });
}

function makeAnchorPlain(copy: CopiedSchema, path: string): void {
  if (copy.$dynamicAnchor === undefined) return;
  if (copy.$anchor !== undefined) throw new UnusableSchema(path, 'cannot have both $anchor and $dynamicAnchor');
  copy.$anchor = copy.$dynamicAnchor;
  delete copy.$dynamicAnchor;
}

/**
 * Shortens the values, because the validator repeats all allowed values in each of its errors, and 60 KB per error
 * would fill the memory within the time.
 */
function withShortText(values: unknown[]): unknown[] {
  return Object.defineProperty([...values], 'toJSON', { value: () => 'the allowed values' });
}

// Compiles regular expressions of clients. ECMAScript's own engine matches them, because schemas in common use need all
// of it (lookaheads, Unicode classes). Its matching can be interrupted; its compiling cannot, and is therefore bounded
// by weight.

/** Returns the cost of compiling a pattern, in characters. */
const weightOf = (source: string): number => source.length + propertyClassWeight * (source.match(/\\p/gi)?.length ?? 0);

/** Returns the pattern as the validator can compile it. Throws UnusableSchema when it is invalid. */
function readPattern(source: string, path: string): string {
  if (source.length > patternMaxCharacters) {
    throw new UnusableSchema(path, `must not be longer than ${patternMaxCharacters} characters`);
  }
  for (const candidate of [source, inUnicodeMode(source)]) if (compiles(candidate)) return candidate;
  throw new UnusableSchema(path, 'is no regular expression of ECMA-262 in Unicode mode');
}

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/**
 * Matches escapes that other modes and languages allow but Unicode mode does not allow, such as `\-` and `\@`, and a
 * lone `]`.
 */
const needlessEscapes = /[\s"#%&',:;<=>@_`~!]/;

function inUnicodeMode(source: string): string {
  let inClass = false;
  return source.replaceAll(/\\(.)|[[\]]/gsu, (found, escaped?: string) => {
    if (escaped === undefined) {
      const isLone = found === ']' && !inClass;
      inClass = found === '[';
      return isLone ? '\\]' : found;
    }
    return needlessEscapes.test(escaped) || (escaped === '-' && !inClass) ? escaped : found;
  });
}

/**
 * Length of a probe. With two alternatives in each repetition a match never ends, and with one alternative it ends for
 * any pattern.
 */
const probeCharacters = 64;
const probePiecesMax = 20;
const usualPieces = ['a', 'A', '0', ' ', '-', '_', '.'];
/**
 * Characters after a repetition that make the match fail at the end; the pattern's own first characters are used too.
 */
const usualEndings = ['\u0000', '\n', '!'];
const ownEndingsMax = 4;

const probedPartsMax = 16;

/**
 * Tries a pattern on the worst texts for it, which are its own characters and words, repeated. A pattern that
 * backtracks without end fails here, before an answer is paid for. The probe proves nothing for other patterns, which
 * exceed the time limit of the answer.
 */
function probePattern(source: string): void {
  const literals = source.match(/\w{2,8}|[^\\^$.*+?()[\]{}|]/gu) ?? [];
  const pieces = [...new Set([...usualPieces, ...literals])].slice(0, probePiecesMax);
  const endings = [...usualEndings, ...literals.slice(0, ownEndingsMax)];
  for (const part of [source, ...repeatedGroups(source)].slice(0, probedPartsMax)) {
    const pattern = new RegExp(part, 'u');
    for (const piece of pieces) {
      for (const ending of endings) pattern.test(piece.repeat(probeCharacters / piece.length) + ending);
    }
  }
}

/**
 * Returns each repeated group as a separate pattern, because in the whole pattern it may follow a prefix that no probe
 * begins with.
 */
function repeatedGroups(source: string): string[] {
  const groups: string[] = [];
  const open: number[] = [];
  for (const { 0: found, index } of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\(|\)(?:[*+]|\{\d*,?\d*\})?/gsu)) {
    if (found === '(') open.push(index);
    if (!found.startsWith(')')) continue;
    const start = open.pop();
    if (start !== undefined && found.length > 1) groups.push(`^${source.slice(start, index + found.length)}$`);
  }
  // Outside its pattern a group may refer to another group, which is missing.
  return groups.filter(compiles);
}
