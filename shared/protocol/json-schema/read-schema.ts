// Reads a schema that nobody has checked: every keyword must be what its draft says, and what comes out is a copy with
// nothing in it but keywords of that draft. The depth is bounded before.
import type { Schema } from '@cfworker/json-schema';
import { adaptKeywords, type CopiedSchema } from './adapt-keywords.ts';
import { type Draft, isDraft } from './draft.ts';
import { isObject, type JsonObject } from './json-value.ts';
import { type Keyword, keywordOf } from './keywords.ts';
import { readPattern } from './patterns.ts';
import { joinPath, UnusableSchema } from './unusable-schema.ts';

export interface ReadSchema {
  readonly schema: Schema | boolean;
  /** Every subschema of the copy with its path. */
  readonly places: ReadonlyMap<Schema, string>;
  /** Every pattern with its first path. */
  readonly patterns: ReadonlyMap<string, string>;
}

interface Reading {
  readonly draft: Draft;
  readonly places: Map<Schema, string>;
  readonly patterns: Map<string, string>;
  /** Where the first embedded `$id` and the first dynamic reference were met. */
  embeddedId?: string;
  dynamic?: string;
}

/** Throws UnusableSchema at the first keyword that is not what it must be. */
export function readSchema(value: unknown, draft: Draft): ReadSchema {
  const reading: Reading = { draft, places: new Map(), patterns: new Map() };
  const schema = readSubschema(value, '', reading);
  // Which schema a dynamic reference means then depends on the way there. In a single resource it is a plain one.
  if (reading.dynamic !== undefined && reading.embeddedId !== undefined) {
    throw new UnusableSchema(reading.dynamic, 'cannot be used beside an embedded $id');
  }
  return { schema, places: reading.places, patterns: reading.patterns };
}

function readSubschema(value: unknown, path: string, reading: Reading): Schema | boolean {
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
  if (copy.$dynamicRef !== undefined || copy.$dynamicAnchor !== undefined) reading.dynamic ??= path;
  for (const added of adaptKeywords(copy, path, reading.draft)) reading.places.set(added, path);
  if (copy.$id !== undefined && path !== '') reading.embeddedId ??= path;
  reading.places.set(copy, path);
  return copy;
}

function readContent(content: unknown, keyword: Keyword, path: string, reading: Reading): unknown {
  if (keyword.role === 'pattern') return notePattern(content as string, path, reading);
  if (keyword.holds === undefined) return content;
  if (keyword.holds.startsWith('members')) return readMembers(content as JsonObject, keyword, path, reading);
  if (!Array.isArray(content)) return readSubschema(content, path, reading);
  return content.map((item, index) => readSubschema(item, joinPath(path, index), reading));
}

function readMembers(members: JsonObject, { role, holds }: Keyword, path: string, reading: Reading): object {
  const read = Object.entries(members).map(([name, member]): [string, unknown] => {
    const place = joinPath(path, name);
    const key = role === 'pattern_names' ? notePattern(name, place, reading) : name;
    const isNames = holds === 'members_or_names' && Array.isArray(member);
    return [key, isNames ? member : readSubschema(member, place, reading)];
  });
  // Not by assignment: a member may be called __proto__.
  const copy = Object.fromEntries(read);
  if (Object.keys(copy).length === read.length) return copy;
  throw new UnusableSchema(path, 'has two members that are the same regular expression');
}

function notePattern(text: string, path: string, reading: Reading): string {
  const source = readPattern(text, path);
  if (!reading.patterns.has(source)) reading.patterns.set(source, path);
  return source;
}
