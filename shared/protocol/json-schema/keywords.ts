// What the value of each keyword must be, by draft. A keyword that is not here means nothing in that draft: it is left
// out of the copy that the validator gets, because the validator mixes drafts.
import type { Draft } from './draft.ts';
import { isObject } from './json-value.ts';

export interface Keyword {
  /** Continues the sentence "The schema at /a/b …". */
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
  /** How subschemas stand in the value. */
  readonly holds?: 'schema' | 'schemas' | 'members' | 'members_or_names';
  readonly role?: 'annotation' | 'pattern' | 'pattern_names';
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isSchema = (value: unknown): boolean => isObject(value) || typeof value === 'boolean';
const isSchemaList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isNameList = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isMapOf = (value: unknown, fits: (member: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(fits);

const typeNames: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const isTypeName = (value: unknown): boolean => typeNames.has(value);

/** Anything that a URL can be read from, relative to some base. */
const isReference = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value, 'https://base.invalid/');
const isIdentifier = (value: unknown): boolean => isReference(value) && /^[^#]+#?$/.test(value as string);
const isAnchor = (value: unknown): boolean => isText(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value as string);

const schema: Keyword = { must: 'must be an object or a boolean', fits: isSchema, holds: 'schema' };
const schemas: Keyword = { must: 'must be a list of schemas, not empty', fits: isSchemaList, holds: 'schemas' };
const schemaMap: Keyword = { must: 'must be an object of schemas', fits: isObject, holds: 'members' };
const count: Keyword = {
  must: 'must be a whole number, 0 or more',
  fits: (value) => Number.isInteger(value) && (value as number) >= 0,
};
const number: Keyword = { must: 'must be a number', fits: (value) => typeof value === 'number' };
const names: Keyword = { must: 'must be a list of different strings', fits: isNameList };
const annotation: Keyword = { must: 'must be a string', fits: isText, role: 'annotation' };
const mark: Keyword = { must: 'must be a boolean', fits: (value) => typeof value === 'boolean', role: 'annotation' };
const reference: Keyword = { must: 'must be a URI reference', fits: isReference };
const anchor: Keyword = { must: 'must be a plain name', fits: isAnchor };

const inBoth: Readonly<Record<string, Keyword>> = {
  $comment: annotation,
  title: annotation,
  description: annotation,
  // Asserted by neither draft unless a reader of the schema asks for it.
  format: annotation,
  contentEncoding: annotation,
  contentMediaType: annotation,
  examples: { must: 'must be a list', fits: Array.isArray, role: 'annotation' },
  readOnly: mark,
  writeOnly: mark,
  $ref: reference,
  $defs: schemaMap,
  definitions: schemaMap,
  type: {
    must: 'must be one of the seven type names, or a list of different ones',
    fits: (value) => isTypeName(value) || (isNameList(value) && isSchemaList(value) && (value as []).every(isTypeName)),
  },
  enum: { must: 'must be a list', fits: Array.isArray },
  const: { must: 'must be a value', fits: () => true },
  multipleOf: { must: 'must be a number above 0', fits: (value) => typeof value === 'number' && value > 0 },
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: { must: 'must be a string', fits: isText, role: 'pattern' },
  maxItems: count,
  minItems: count,
  uniqueItems: { must: 'must be a boolean', fits: (value) => typeof value === 'boolean' },
  contains: schema,
  maxProperties: count,
  minProperties: count,
  required: names,
  properties: schemaMap,
  patternProperties: { ...schemaMap, role: 'pattern_names' },
  additionalProperties: schema,
  propertyNames: schema,
  // Deprecated in 2020-12, but still written there.
  dependencies: {
    must: 'must be an object of schemas or lists of different strings',
    fits: (value) => isMapOf(value, (member) => isSchema(member) || isNameList(member)),
    holds: 'members_or_names',
  },
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: the keyword is called so, and nobody awaits this table.
  then: schema,
  else: schema,
};

const tables: Readonly<Record<Draft, ReadonlyMap<string, Keyword>>> = {
  '2020-12': new Map(
    Object.entries({
      ...inBoth,
      $id: { must: 'must be a URI reference without a fragment', fits: isIdentifier },
      $anchor: anchor,
      $vocabulary: {
        must: 'must be an object of booleans',
        fits: (value) => isMapOf(value, (member) => typeof member === 'boolean'),
        role: 'annotation',
      },
      deprecated: mark,
      contentSchema: { ...schema, role: 'annotation' },
      $dynamicRef: reference,
      $dynamicAnchor: anchor,
      items: { ...schema, must: 'must be an object or a boolean (a list of schemas is called prefixItems)' },
      prefixItems: schemas,
      unevaluatedItems: schema,
      unevaluatedProperties: schema,
      dependentSchemas: schemaMap,
      dependentRequired: {
        must: 'must be an object of lists of different strings',
        fits: (value) => isMapOf(value, isNameList),
      },
      maxContains: count,
      minContains: count,
    }),
  ),
  '7': new Map(
    Object.entries({
      ...inBoth,
      $id: reference,
      items: {
        must: 'must be a schema or a list of schemas',
        fits: (value) => isSchema(value) || isSchemaList(value),
        holds: 'schemas',
      },
      additionalItems: schema,
    }),
  ),
};

export const keywordOf = (draft: Draft, name: string): Keyword | undefined => tables[draft].get(name);
