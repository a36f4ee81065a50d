// Reads an unchecked schema: every keyword must be valid in its draft, and the result is a copy with keywords of that
// draft only. Rules that the validator does not know, or runs slowly, are rewritten to keywords that it runs well. The
// depth is bounded before.
import type { Schema } from '@cfworker/json-schema';
import { isObject, type JsonObject, joinPath, UnusableSchema } from './json-value.ts';
import { isDraft, type Keyword, keywordOf, refIsAlone, type SchemaDraft } from './keywords.ts';
import { readPattern } from './patterns.ts';

export interface ReadSchema {
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
  /** Where the first embedded `$id` and the first dynamic reference were met. */
  embeddedId?: string;
  dynamic?: string;
}

/** Throws UnusableSchema at the first invalid keyword, and the errors of `beforePattern`. */
export function readSchema(value: unknown, draft: SchemaDraft, beforePattern: SchemaScan['beforePattern']): ReadSchema {
  const reading: SchemaScan = { draft, beforePattern, places: new Map(), patterns: new Map() };
  const schema = readSubschema(value, '', reading);
  // Which schema a dynamic reference means then depends on the way there. In a single resource it is a plain one.
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
  for (const added of adaptKeywords(copy, path, reading.draft)) reading.places.set(added, path);
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
  // Not by assignment, because a field may be called __proto__.
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

/** Changes the copy of one subschema. Returns the schemas it added, to be counted like any other. */
function adaptKeywords(copy: CopiedSchema, path: string, draft: SchemaDraft): Schema[] {
  const additions: Schema[] = [];
  if (draft === '4') adaptDraft4(copy);
  // Keywords beside a $ref are absent in these drafts, but the validator would use the $id.
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

/** Later drafts have another name for `id`, and bounds that are exclusive by themselves. */
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

/** `name` becomes `plainName`, in a schema of its own where that one is taken. */
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

/** The validator repeats all allowed values in each of its errors: 60 KB a time would fill the memory within the time. */
function withShortText(values: unknown[]): unknown[] {
  return Object.defineProperty([...values], 'toJSON', { value: () => 'the allowed values' });
}
