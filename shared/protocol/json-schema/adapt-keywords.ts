// What the validator does not know, or does at a price, is said again in keywords that it does well.
import type { Schema } from '@cfworker/json-schema';
import type { Draft } from './draft.ts';
import { UnusableSchema } from './unusable-schema.ts';

/** One subschema of the copy: members come from JSON and are what their draft says. */
export type CopiedSchema = Record<string, unknown>;

/** Changes the copy of one subschema. Returns the schemas it added, to be counted like any other. */
export function adaptKeywords(copy: CopiedSchema, path: string, draft: Draft): Schema[] {
  const additions: Schema[] = [];
  // Whatever stands beside a $ref is not there in draft 7; the validator would take the $id all the same.
  if (draft === '7' && copy.$ref !== undefined) delete copy.$id;
  makeAnchorPlain(copy, path);
  if (Array.isArray(copy.enum)) copy.enum = keepQuiet(copy.enum);
  move(copy, '$dynamicRef', '$ref', (reference) => reference, additions);
  move(copy, 'const', 'enum', (value) => keepQuiet([value]), additions);
  if (additions.length > 0) copy.allOf = [...((copy.allOf as Schema[] | undefined) ?? []), ...additions];
  return additions;
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
function keepQuiet(values: unknown[]): unknown[] {
  return Object.defineProperty([...values], 'toJSON', { value: () => 'the allowed values' });
}
